-- The operators of MegEngine's graphs, by their keys in the file: those of `graph_exec.operator`,
-- and those that only occur in times or footprints.
-- One row: an operator.
-- Materialised: several relations read it.
WITH
operators AS (
    SELECT source_id, key, ordinal, value FROM staged_megengine WHERE section = 'operator'
),

footprints AS (
    SELECT source_id, key, value FROM staged_megengine WHERE section = 'opr_footprint'
),

sequence AS (
    SELECT source_id, value ->> '$' AS key, min(ordinal) AS ordinal
    FROM staged_megengine
    WHERE section = 'comp_seq'
    GROUP BY ALL
),

keys AS (
    SELECT source_id, key FROM operators
    UNION
    SELECT source_id, key FROM footprints
    UNION
    SELECT source_id, opr_key AS key FROM staged_megengine_times
)

SELECT
    keys.source_id,
    keys.key AS opr_key,
    coalesce(
        try_cast(operators.value ->> '$.id' AS BIGINT), try_cast(keys.key AS BIGINT)
    ) AS opr_id,
    operators.ordinal AS operator_ordinal,
    sequence.ordinal AS execution_ordinal,
    operators.value ->> '$.name' AS name,
    operators.value ->> '$.type' AS type,
    try_cast(operators.value -> '$.input' AS VARCHAR[]) AS inputs,
    try_cast(operators.value -> '$.output' AS VARCHAR[]) AS outputs,
    operators.value -> '$.waiting_spec' AS waiting_spec,
    operators.value -> '$.extra' AS extra,
    footprints.value AS footprint
FROM keys
LEFT JOIN operators USING (source_id, key)
LEFT JOIN footprints USING (source_id, key)
LEFT JOIN sequence USING (source_id, key);
