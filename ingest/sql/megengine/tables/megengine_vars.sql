-- Variables of MegEngine's graphs, with their positions in memory.
-- One row: a variable.
--
-- run_id, source_id, rank
-- var_key          key of the variable in the file
-- name             name of the variable
-- comp_node        comp node of the variable
-- opr_id           operator that writes the variable (`megengine_oprs.opr_id`)
-- written_ordinal  position of the operator that writes the variable in the order of execution;
--                  null if it was not executed
-- read_ordinal     position of the last operator that reads the variable in the order of execution;
--                  null if no operator reads it
-- dtype            type of the elements, if memory was planned
-- var_shape        shape of the variable: as planned, or else as inferred (JSON)
-- strides          strides in elements, if memory was planned (JSON)
-- chunk_id         chunk that contains the variable (`megengine_memory_chunks.chunk_id`); null for
--                  memory that was allocated when the operator ran
-- offset_bytes     offset of the variable in the chunk, bytes
-- address          last address of the variable
-- bytes            size of its memory at that address, bytes; null if not known
-- flags            flags that MegEngine sets on the variable
-- is_persistent    whether the variable keeps its memory between executions, as weights do
-- forwarded_from   variable whose memory it shares (`megengine_vars.var_key`)
SELECT
    var.source_id,
    sources.rank,
    var.var_key,
    var.value ->> '$.name' AS name,
    var.value ->> '$.comp_node' AS comp_node,
    var.opr_id,
    var.written_ordinal,
    var.read_ordinal,
    var.value ->> '$.mem_plan.layout.dtype' AS dtype,
    coalesce(
        nullif(var.value -> '$.mem_plan.layout.shape', 'null'::JSON),
        nullif(var.value -> '$.static_infer_tags.SHAPE.inferred_result', 'null'::JSON)
    ) AS var_shape,
    var.value -> '$.mem_plan.layout.stride' AS strides,
    var.chunk_id,
    try_cast(var.value ->> '$.mem_plan.offset_byte' AS BIGINT) AS offset_bytes,
    nullif(try_cast(var.value ->> '$.prev_dev_ptr' AS UBIGINT), 0) AS address,
    CASE
        WHEN address IS NOT NULL
            THEN try_cast(
                try_cast(var.value ->> '$.prev_dev_ptr_end' AS HUGEINT) - address AS BIGINT
            )
    END AS bytes,
    var.flags,
    var.is_persistent,
    coalesce(
        var.value ->> '$.mem_readonly_fwd_src', var.value ->> '$.force_update_src'
    ) AS forwarded_from
FROM megengine_variables AS var
INNER JOIN staged_sources AS sources ON var.source_id = sources.source_id
ORDER BY var.source_id, var.ordinal;
