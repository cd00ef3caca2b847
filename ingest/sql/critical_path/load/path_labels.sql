-- The names on the critical paths, for those that `path_gains` has as numbers.
-- One row: a name of a span, an operator, a kernel or a module on a path.
SELECT name FROM critical_paths WHERE name IS NOT NULL
UNION
SELECT op AS name FROM critical_paths WHERE op IS NOT NULL
UNION
SELECT module AS name FROM critical_paths WHERE module IS NOT NULL;
