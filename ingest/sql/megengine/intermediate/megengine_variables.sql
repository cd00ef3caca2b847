-- Variables of MegEngine's graphs, with the operators that write and read them.
-- One row: a variable.
-- Materialised: several relations read it.
WITH
written AS (
    SELECT source_id, unnest(outputs) AS var_key, opr_key, opr_id, execution_ordinal
    FROM megengine_operators
),

writers AS (
    SELECT
        source_id,
        var_key,
        arg_min(opr_id, (execution_ordinal IS NULL, execution_ordinal, opr_id)) AS opr_id,
        min(execution_ordinal) AS written_ordinal
    FROM written
    GROUP BY source_id, var_key
),

readers AS (
    SELECT source_id, var_key, max(execution_ordinal) AS read_ordinal
    FROM (
        SELECT source_id, unnest(inputs) AS var_key, execution_ordinal FROM megengine_operators
    )
    GROUP BY source_id, var_key
),

vars AS (
    SELECT source_id, ordinal, key AS var_key, value FROM staged_megengine WHERE section = 'var'
)

SELECT
    vars.*,
    writers.opr_id,
    writers.written_ordinal,
    readers.read_ordinal,
    vars.value ->> '$.mem_plan.mem_chunk_id' AS chunk_id,
    try_cast(vars.value -> '$.flag' AS VARCHAR[]) AS flags,
    coalesce(len(list_intersect(flags, ['PERSISTENT_DEVICE_VALUE', 'NO_MEM_RECLAIM'])) > 0, FALSE)
        AS is_persistent
FROM vars
LEFT JOIN writers USING (source_id, var_key)
LEFT JOIN readers USING (source_id, var_key);
