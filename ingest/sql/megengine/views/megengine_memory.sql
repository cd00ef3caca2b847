-- Memory of MegEngine's graphs: chunks that were planned before the execution, and memory that was
-- allocated for single variables during the execution.
-- One row: a chunk, or a variable outside of chunks, that ends below address 2^63.
--
-- run_id, source_id, rank, comp_node
-- kind           chunk, or variable
-- owner_var      the variable, or the variable that the chunk was made for
--                (`megengine_vars.var_key`)
-- name           name of the variable `owner_var`
-- opr_id         operator that writes the variable `owner_var` (`megengine_oprs.opr_id`)
-- address        start address of the chunk or variable
-- bytes          size of the chunk or variable, bytes
-- is_persistent  whether the memory keeps its content between executions, as weights do
-- first_ordinal  position in the order of execution at which its use begins
-- last_ordinal   position in the order of execution at which its use ends
-- offset_bytes   position in the comp node's memory, not counting addresses that were never used,
--                bytes
WITH
pieces AS (
    SELECT
        run_id,
        source_id,
        rank,
        comp_node,
        'chunk' AS kind,
        owner_var,
        owner AS name,
        owner_opr_id AS opr_id,
        address,
        bytes,
        is_persistent,
        first_ordinal,
        last_ordinal
    FROM megengine_memory_chunks
    WHERE bytes > 0 AND address IS NOT NULL AND first_ordinal IS NOT NULL
    UNION ALL BY NAME
    SELECT
        run_id,
        source_id,
        rank,
        comp_node,
        'variable' AS kind,
        var_key AS owner_var,
        name,
        opr_id,
        address,
        bytes,
        FALSE AS is_persistent,
        written_ordinal AS first_ordinal,
        greatest(written_ordinal, read_ordinal) AS last_ordinal
    FROM megengine_vars
    WHERE
        chunk_id IS NULL
        AND bytes > 0
        AND written_ordinal IS NOT NULL
),

reached AS (
    SELECT
        *,
        address::HUGEINT AS from_byte,
        max(address::HUGEINT + bytes) OVER (
            PARTITION BY run_id, source_id, comp_node ORDER BY address, bytes, owner_var
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_byte
    FROM pieces
),

unused AS (
    SELECT
        *,
        sum(greatest(from_byte - coalesce(reached_byte, 0), 0)) OVER (
            PARTITION BY run_id, source_id, comp_node ORDER BY address, bytes, owner_var
            ROWS UNBOUNDED PRECEDING
        ) AS unused_bytes
    FROM reached
)

SELECT
    run_id,
    source_id,
    rank,
    comp_node,
    kind,
    owner_var,
    name,
    opr_id,
    address,
    bytes,
    is_persistent,
    first_ordinal,
    last_ordinal,
    try_cast(from_byte - unused_bytes AS BIGINT) AS offset_bytes
FROM unused;
