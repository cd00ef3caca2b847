-- Stretches in which the host of a run without a device was busy, in classes that include each
-- other: `operators`; `all`, which is operators and generated code; `all_or_loading`, with data
-- loaders; `all_loading_or_compiling`, with phases of compilation. What a class adds to the one
-- before is time of its own kind alone.
-- One row: a maximal stretch of a class.
SELECT 'operators' AS class, * FROM islands('host_operators')
UNION ALL
SELECT 'all' AS class, * FROM islands('host_work')
UNION ALL
SELECT 'all_or_loading' AS class, * FROM islands('host_work_or_loading')
UNION ALL
SELECT 'all_loading_or_compiling' AS class, * FROM islands('host_activities');
