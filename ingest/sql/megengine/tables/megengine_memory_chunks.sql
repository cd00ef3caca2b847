-- Chunks of memory that MegEngine planned before the execution, with their addresses, their owners
-- and when operators need them.
-- One row: a chunk.
--
-- A chunk is in use from the first operator that writes a variable in it to the last operator that
-- reads or writes one. Chunks that are not in use at the same time may share memory.
--
-- run_id, source_id, rank
-- chunk_id       name of the chunk
-- address        address of the chunk; null for an empty one
-- bytes          size of the chunk, bytes
-- comp_node      comp node of the variable that the chunk was made for
-- owner_var      variable that the chunk was made for (`megengine_vars.var_key`)
-- owner          name of the variable that the chunk was made for
-- owner_opr_id   operator that writes the variable `owner_var` (`megengine_oprs.opr_id`)
-- vars           number of variables in the chunk
-- is_persistent  whether the chunk keeps its content between executions, as weights do
-- first_ordinal  position in the order of execution at which its use begins; 0 if it is persistent;
--                null if no executed operator uses it
-- last_ordinal   position in the order of execution at which its use ends; the last one if it is
--                persistent
WITH
users AS (
    SELECT
        source_id,
        chunk_id,
        count(*) AS vars,
        bool_or(is_persistent) AS is_persistent,
        min(written_ordinal) AS first_ordinal,
        max(greatest(written_ordinal, read_ordinal)) AS last_ordinal
    FROM megengine_variables
    WHERE chunk_id IS NOT NULL
    GROUP BY source_id, chunk_id
),

ends AS (
    SELECT source_id, max(execution_ordinal) AS last_ordinal
    FROM megengine_operators
    GROUP BY source_id
)

SELECT
    chunk.source_id,
    sources.rank,
    chunk.key AS chunk_id,
    nullif(try_cast(chunk.value ->> '$.dev_ptr' AS UBIGINT), 0) AS address,
    whole_number(chunk.value ->> '$.size') AS bytes,
    owner.value ->> '$.comp_node' AS comp_node,
    chunk.value ->> '$.owner_var' AS owner_var,
    owner.value ->> '$.name' AS owner,
    owner.opr_id AS owner_opr_id,
    coalesce(users.vars, 0) AS vars,
    coalesce(users.is_persistent, owner.is_persistent, FALSE) AS is_persistent,
    CASE WHEN users.is_persistent THEN 0 ELSE users.first_ordinal END AS first_ordinal,
    CASE WHEN users.is_persistent THEN ends.last_ordinal ELSE users.last_ordinal END
        AS last_ordinal
FROM staged_megengine AS chunk
INNER JOIN staged_sources AS sources ON chunk.source_id = sources.source_id
LEFT JOIN megengine_variables AS owner
    ON chunk.source_id = owner.source_id AND chunk.value ->> '$.owner_var' = owner.var_key
LEFT JOIN users ON chunk.source_id = users.source_id AND chunk.key = users.chunk_id
LEFT JOIN ends ON chunk.source_id = ends.source_id
WHERE chunk.section = 'mem_chunk'
ORDER BY chunk.source_id, chunk.ordinal;
