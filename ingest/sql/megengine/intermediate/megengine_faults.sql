-- Warnings about the profiles of MegEngine.
-- One row: a warning.
WITH
referenced AS (
    SELECT source_id, 'opr_id' AS kind, opr_key AS key FROM staged_megengine_times
    UNION
    SELECT source_id, 'opr_id' AS kind, key
    FROM staged_megengine
    WHERE section IN ('opr_footprint', 'opr_internal_pf')
    UNION
    SELECT source_id, 'opr_id' AS kind, value ->> '$' AS key
    FROM staged_megengine
    WHERE section = 'comp_seq'
    UNION
    SELECT source_id, 'var' AS kind, unnest(list_concat(inputs, outputs)) AS key
    FROM megengine_operators
    UNION
    SELECT source_id, 'var' AS kind, value ->> '$.owner_var' AS key
    FROM staged_megengine
    WHERE section = 'mem_chunk'
    UNION
    SELECT source_id, 'chunk' AS kind, chunk_id AS key FROM megengine_variables
),

defined AS (
    SELECT
        source_id,
        CASE section WHEN 'operator' THEN 'opr_id' WHEN 'var' THEN 'var' ELSE 'chunk' END AS kind,
        key
    FROM staged_megengine
    WHERE section IN ('operator', 'var', 'mem_chunk')
),

-- Ids of a kind without a section cannot be checked.
kinds AS (SELECT DISTINCT source_id, kind FROM defined),

dangling AS (
    SELECT referenced.source_id, referenced.kind, count(*) AS ids, min(referenced.key) AS example
    FROM referenced
    ANTI JOIN defined USING (source_id, kind, key)
    WHERE
        referenced.key IS NOT NULL
        AND (referenced.source_id, referenced.kind) IN (FROM kinds)
    GROUP BY referenced.source_id, referenced.kind
),

numbers AS (
    SELECT
        source_id,
        CASE section
            WHEN 'opr_footprint'
                THEN unnest([value ->> '$.computation', value ->> '$.memory'])
            ELSE value ->> '$.size'
        END AS number
    FROM staged_megengine
    WHERE section IN ('opr_footprint', 'mem_chunk') AND json_type(value) = 'OBJECT'
),

unknown AS (
    SELECT source_id, count(*) AS numbers, min(number) AS example
    FROM numbers
    WHERE number IS NOT NULL AND whole_number(number) IS NULL
    GROUP BY source_id
),

malformed AS (
    SELECT source_id, section, count(*) AS entries
    FROM staged_megengine
    WHERE
        section IN ('opr_footprint', 'operator', 'var', 'mem_chunk')
        AND json_type(value) <> 'OBJECT'
    GROUP BY source_id, section
),

out_of_order AS (
    SELECT source_id, count(*) AS times
    FROM staged_megengine_times
    WHERE NOT (start_s <= coalesce(kern_s, start_s) AND coalesce(kern_s, start_s) <= end_s)
    GROUP BY source_id
)

SELECT
    source_id,
    'ids_dangling' AS code,
    format(
        '{} {}{} referenced, such as {}, but not defined',
        ids,
        CASE kind WHEN 'opr_id' THEN 'operator' WHEN 'var' THEN 'variable' ELSE 'chunk' END,
        CASE WHEN ids = 1 THEN ' is' ELSE 's are' END,
        example
    ) AS message
FROM dangling
UNION ALL
SELECT
    source_id,
    'numbers_unread' AS code,
    format(
        '{} of operations or bytes ignored, such as {}: not an integer',
        CASE WHEN numbers = 1 THEN '1 number' ELSE format('{} numbers', numbers) END,
        example
    ) AS message
FROM unknown
UNION ALL
SELECT
    source_id,
    'entries_malformed' AS code,
    format(
        '{} of section {} {}: not an object',
        CASE WHEN entries = 1 THEN '1 entry' ELSE format('{} entries', entries) END,
        section,
        CASE WHEN entries = 1 THEN 'is left out' ELSE 'are left out' END
    ) AS message
FROM malformed
UNION ALL
SELECT
    source_id,
    'times_out_of_order' AS code,
    format(
        '{} not in the order start, kern, end, so kern is ignored',
        CASE
            WHEN times = 1 THEN '1 time of an operator is'
            ELSE format('{} times of operators are', times)
        END
    ) AS message
FROM out_of_order;
