-- The names on the critical paths, to look up the labels of `path_gains`.
-- One row: the name of a span, an operator, a kernel or a module on a path.
SELECT name FROM critical_paths WHERE name IS NOT NULL
UNION
SELECT op AS name FROM critical_paths WHERE op IS NOT NULL
UNION
SELECT module AS name FROM critical_paths WHERE module IS NOT NULL;
