-- Rows of `module_tree` for the modules that annotations of graph nodes name, and for those around
-- them.
-- One row: a module.
WITH
named AS (
    SELECT DISTINCT string_split(module, '/') AS names
    FROM graph_annotations
    WHERE module IS NOT NULL
),

lengths AS (
    SELECT names, unnest(range(1, len(names) + 1)) AS length FROM named
),

around AS (
    SELECT DISTINCT names[:length] AS names FROM lengths
),

paths AS (
    SELECT
        *,
        list_transform(
            range(1, len(names) + 1), LAMBDA last: array_to_string(names[:last], '/')
        ) AS paths
    FROM around
)

SELECT
    annotated_module_id(paths[-1]) AS module_id,
    CASE WHEN len(names) > 1 THEN annotated_module_id(paths[-2]) END AS parent_id,
    paths[-1] AS module,
    names[-1] AS name,
    names[-1] AS class,
    (len(names) - 1)::INTEGER AS depth,
    list_transform(paths, LAMBDA path: annotated_module_id(path)) AS around
FROM paths;
