-- The nn.Modules of the model and how they nest, from the Python frames, also those of traces of
-- captures and of annotations of graph nodes.
-- One row: a module inside the modules around it.
--
-- run_id
-- module_id  identifies the module and those around it by name (`call_tree.module_id`); the same
--            number in all runs
-- parent_id, module
-- name       name of the module: its class and torch's number for it
-- class      class of the module
-- depth      number of modules around it
-- around     `module_id` of each module around it and its own, outermost first
WITH RECURSIVE
frames AS (
    SELECT
        call.module_id,
        any_value(call.parent_id) AS caller_id,
        any_value(substr(call_names.torch_name, 12)) AS name
    FROM placed_calls AS call
    INNER JOIN call_names ON call.name_number = call_names.name_number
    WHERE is_module(call_names.torch_name)
    GROUP BY call.module_id
),

-- The smaller relation is on the right: DuckDB builds the hash table from that side.
callers AS (
    SELECT frames.module_id, nullif(caller.module_id, 0) AS parent_id
    FROM host_nest AS caller
    INNER JOIN frames ON caller.event_id = frames.caller_id
),

modules_around AS (
    SELECT frames.module_id, frames.name, callers.parent_id
    FROM frames
    LEFT JOIN callers ON frames.module_id = callers.module_id
),

placed AS (
    SELECT *, name AS module, 0 AS depth, [module_id] AS around
    FROM modules_around
    WHERE parent_id IS NULL
    UNION ALL
    SELECT
        modules_around.*,
        concat(placed.module, '/', modules_around.name) AS module,
        placed.depth + 1 AS depth,
        list_append(placed.around, modules_around.module_id) AS around
    FROM placed
    INNER JOIN modules_around ON placed.module_id = modules_around.parent_id
)

SELECT
    module_id,
    parent_id,
    module,
    name,
    regexp_replace(name, '_[0-9]+$', '') AS class,
    depth,
    around
FROM placed
UNION BY NAME  -- noqa: AM02
SELECT staged_graph_modules.* EXCLUDE (source_id)
FROM staged_graph_modules
UNION BY NAME  -- noqa: AM02
SELECT * FROM annotated_modules;
