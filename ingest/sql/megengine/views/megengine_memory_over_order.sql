-- Memory of MegEngine's graphs while each operator ran.
-- One row: an executed operator, for a comp node with memory.
--
-- run_id, source_id, rank, comp_node
-- execution_ordinal  position of the operator in the order of execution
-- opr_id
-- name               name of the operator
-- live_bytes         memory in use while the operator ran, bytes; shared memory counts once
-- persistent_bytes   memory in use that keeps its content between executions, as weights do, bytes
WITH
-- DuckDB would materialise relations that are read twice, and so read the rows of all runs.
nodes AS NOT MATERIALIZED (
    SELECT DISTINCT run_id, source_id, comp_node FROM megengine_memory
),

moments AS NOT MATERIALIZED (
    SELECT
        run_id,
        source_id,
        opr.rank,
        nodes.comp_node,
        opr.execution_ordinal,
        opr.opr_id,
        opr.name
    FROM megengine_oprs AS opr
    INNER JOIN nodes USING (run_id, source_id)
    WHERE opr.execution_ordinal IS NOT NULL
),

-- Persistent memory is always in use, so it is summed only once.
held AS (
    SELECT
        run_id,
        source_id,
        comp_node,
        NULL AS execution_ordinal,
        offset_bytes::HUGEINT AS from_byte,
        bytes
    FROM megengine_memory
    WHERE is_persistent
    UNION ALL
    SELECT
        moments.run_id,
        moments.source_id,
        moments.comp_node,
        moments.execution_ordinal,
        piece.offset_bytes::HUGEINT AS from_byte,
        piece.bytes
    FROM moments
    INNER JOIN megengine_memory AS piece
        ON
            moments.run_id = piece.run_id
            AND moments.source_id = piece.source_id
            AND moments.comp_node = piece.comp_node
            AND moments.execution_ordinal BETWEEN piece.first_ordinal AND piece.last_ordinal
    WHERE NOT piece.is_persistent
),

reached AS (
    SELECT
        *,
        max(from_byte + bytes) OVER (
            PARTITION BY run_id, source_id, comp_node, execution_ordinal
            ORDER BY from_byte, bytes
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_byte
    FROM held
),

summed AS NOT MATERIALIZED (
    SELECT
        run_id,
        source_id,
        comp_node,
        execution_ordinal,
        sum(greatest(from_byte + bytes - greatest(from_byte, coalesce(reached_byte, from_byte)), 0))
            AS bytes
    FROM reached
    GROUP BY run_id, source_id, comp_node, execution_ordinal
)

SELECT
    moments.run_id,
    moments.source_id,
    moments.rank,
    moments.comp_node,
    moments.execution_ordinal,
    moments.opr_id,
    moments.name,
    try_cast(coalesce(persistent.bytes, 0) + coalesce(transient.bytes, 0) AS BIGINT) AS live_bytes,
    try_cast(coalesce(persistent.bytes, 0) AS BIGINT) AS persistent_bytes
FROM moments
LEFT JOIN summed AS transient USING (run_id, source_id, comp_node, execution_ordinal)
LEFT JOIN summed AS persistent
    ON
        moments.run_id = persistent.run_id
        AND moments.source_id = persistent.source_id
        AND moments.comp_node = persistent.comp_node
        AND persistent.execution_ordinal IS NULL;
