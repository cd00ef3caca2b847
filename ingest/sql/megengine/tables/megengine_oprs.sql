-- Operators of MegEngine: their times on host and device, what they compute, and what they move.
-- One row: an operator of a graph.
--
-- Times in seconds are the file's own numbers; those in ns are rounded. A comp node's clock counts
-- from its own first event, and not from that of the host. A time of an operator is the longest of
-- its comp nodes or threads.
--
-- run_id                  the run
-- source_id               the input file
-- rank                    rank of the process
-- opr_id                  number of the operator in its graph; null where it is no number
-- opr_key                 the operator's key in the file
-- name                    name of the operator; null where the graph does not have it
-- type                    kind of the operator, such as ConvolutionForward
-- operator_ordinal        place in `graph_exec.operator`, from 0; null where it is not there
-- execution_ordinal       place in `graph_exec.comp_seq`, from 0; null where it was not executed
-- device_time_by_end_s    from start to end on a comp node, s; null without such a time
-- device_time_by_end_ns   the same, ns
-- device_time_by_kern_s   from start to the first kernel, s: what it waited
-- device_time_by_kern_ns  the same, ns
-- host_time_by_end_s      from start to end on a thread of the host, s
-- host_time_by_end_ns     the same, ns
-- host_time_by_kern_s     from start to the first launch, s; null where it launched nothing
-- host_time_by_kern_ns    the same, ns
-- computation_flo         floating-point operations, a multiplication and an addition being two;
--                         null where none were counted
-- memory_bytes            bytes read and written
-- flo_per_s               operations per second of `device_time_by_end_s`; null where that is 0
-- bytes_per_s             bytes per second of it; null where that is 0
-- in_shapes               shapes of the inputs (JSON)
-- in_layouts              their strides, where they are not contiguous (JSON)
-- out_shapes              shapes of the outputs (JSON)
-- params                  parameters of the operator (JSON)
-- input_vars              variables that it reads (`megengine_vars.var_key`)
-- output_vars             variables that it writes (`megengine_vars.var_key`)
-- waits_for               variables of other comp nodes that it waits for
--                         (`megengine_vars.var_key`); null where it waits for none
-- host_times              its times on each thread, s; `kern_s` is null where it launched nothing
-- device_times            its times on each comp node, s
-- extra                   what else the graph says of it (JSON)
WITH
places AS (
    SELECT
        source_id,
        opr_key,
        max(end_s - start_s) FILTER (WHERE is_device) AS device_end_s,
        max(kern_s - start_s) FILTER (WHERE is_device) AS device_kern_s,
        max(end_s - start_s) FILTER (WHERE NOT is_device) AS host_end_s,
        max(kern_s - start_s) FILTER (WHERE NOT is_device) AS host_kern_s,
        list(
            struct_pack(
                event_id := id_in_run(source_id, ordinal),
                thread := place,
                start_s := start_s,
                kern_s := kern_s,
                end_s := end_s
            ) ORDER BY ordinal
        ) FILTER (WHERE NOT is_device) AS host_times,
        list(
            struct_pack(
                event_id := id_in_run(source_id, ordinal),
                comp_node := place,
                start_s := start_s,
                kern_s := kern_s,
                end_s := end_s
            ) ORDER BY ordinal
        ) FILTER (WHERE is_device) AS device_times
    FROM staged_megengine_times
    GROUP BY source_id, opr_key
),

waits AS (
    SELECT source_id, opr_key, flatten(list(vars ORDER BY comp_node)) AS vars
    FROM megengine_waits
    GROUP BY source_id, opr_key
),

measured AS (
    SELECT
        operator.*,
        places.* EXCLUDE (source_id, opr_key),
        nullif(whole_number(operator.footprint ->> '$.computation'), 0) AS computation_flo,
        whole_number(operator.footprint ->> '$.memory') AS memory_bytes
    FROM megengine_operators AS operator
    LEFT JOIN places USING (source_id, opr_key)
)

SELECT
    measured.source_id,
    sources.rank,
    measured.opr_id,
    measured.opr_key,
    measured.name,
    measured.type,
    measured.operator_ordinal,
    measured.execution_ordinal,
    measured.device_end_s AS device_time_by_end_s,
    seconds_to_ns(measured.device_end_s) AS device_time_by_end_ns,
    measured.device_kern_s AS device_time_by_kern_s,
    seconds_to_ns(measured.device_kern_s) AS device_time_by_kern_ns,
    measured.host_end_s AS host_time_by_end_s,
    seconds_to_ns(measured.host_end_s) AS host_time_by_end_ns,
    measured.host_kern_s AS host_time_by_kern_s,
    seconds_to_ns(measured.host_kern_s) AS host_time_by_kern_ns,
    measured.computation_flo,
    measured.memory_bytes,
    CASE
        WHEN isfinite(measured.device_end_s) AND measured.device_end_s > 0
            THEN measured.computation_flo / measured.device_end_s
    END AS flo_per_s,
    CASE
        WHEN isfinite(measured.device_end_s) AND measured.device_end_s > 0
            THEN measured.memory_bytes / measured.device_end_s
    END AS bytes_per_s,
    measured.footprint -> '$.in_shapes' AS in_shapes,
    measured.footprint -> '$.in_layouts' AS in_layouts,
    measured.footprint -> '$.out_shapes' AS out_shapes,
    coalesce(measured.footprint -> '$.param', measured.footprint -> '$.params') AS params,
    measured.inputs AS input_vars,
    measured.outputs AS output_vars,
    waits.vars AS waits_for,
    measured.host_times,
    measured.device_times,
    measured.extra
FROM measured
INNER JOIN staged_sources AS sources ON measured.source_id = sources.source_id
LEFT JOIN waits ON measured.source_id = waits.source_id AND measured.opr_key = waits.opr_key
ORDER BY measured.source_id, measured.operator_ordinal, measured.opr_key;
