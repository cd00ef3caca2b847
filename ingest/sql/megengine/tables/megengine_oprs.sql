-- Operators of MegEngine, with their times on host and device, their operations and the bytes they
-- read and write.
-- One row: an operator of a graph.
--
-- Times in seconds are the numbers in the file; those in ns are rounded. The clock of a comp node
-- starts at its first event and differs from that of the host. If an operator runs on several comp
-- nodes or threads, its longest time counts.
--
-- run_id, source_id, rank
-- opr_id                  number of the operator in its graph; null if its key is not a number
-- opr_key                 key of the operator in the file
-- name                    name of the operator; null if the graph does not contain it
-- type                    kind of the operator, such as ConvolutionForward
-- operator_ordinal        position in `graph_exec.operator`, from 0; null if it is not listed there
-- execution_ordinal       position in `graph_exec.comp_seq`, from 0; null if it was not executed
-- device_time_by_end_s    time from start to end on a comp node, s; null if not recorded
-- device_time_by_end_ns   time from start to end on a comp node, ns; null if not recorded
-- device_time_by_kern_s   time from start to the first kernel on a comp node, s: its waiting time
-- device_time_by_kern_ns  time from start to the first kernel on a comp node, ns
-- host_time_by_end_s      time from start to end on a thread of the host, s
-- host_time_by_end_ns     time from start to end on a thread of the host, ns
-- host_time_by_kern_s     time from start to the first launch on a thread of the host, s; null if
--                         it launched nothing
-- host_time_by_kern_ns    time from start to the first launch on a thread of the host, ns; null if
--                         it launched nothing
-- computation_flo         number of floating-point operations; a multiply-add counts as two; null
--                         if none were counted
-- memory_bytes            bytes read and written
-- flo_per_s               floating-point operations divided by `device_time_by_end_s`; null if that
--                         is 0
-- bytes_per_s             bytes read and written divided by `device_time_by_end_s`; null if that is
--                         0
-- in_shapes, in_layouts, out_shapes
-- params                  parameters of the operator (JSON)
-- input_vars              variables that it reads (`megengine_vars.var_key`)
-- output_vars             variables that it writes (`megengine_vars.var_key`)
-- waits_for               variables of other comp nodes that it waits for
--                         (`megengine_vars.var_key`); null if it waits for none
-- host_times              times on each thread, s; `kern_s` is null if the operator launched
--                         nothing
-- device_times            times on each comp node, s
-- extra                   other data of the operator in the graph (JSON)
WITH
totals AS (
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
                thread := lane_name,
                start_s := start_s,
                kern_s := kern_s,
                end_s := end_s
            ) ORDER BY ordinal
        ) FILTER (WHERE NOT is_device) AS host_times,
        list(
            struct_pack(
                event_id := id_in_run(source_id, ordinal),
                comp_node := lane_name,
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
        totals.* EXCLUDE (source_id, opr_key),
        nullif(whole_number(operator.footprint ->> '$.computation'), 0) AS computation_flo,
        whole_number(operator.footprint ->> '$.memory') AS memory_bytes
    FROM megengine_operators AS operator
    LEFT JOIN totals USING (source_id, opr_key)
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
