-- Metrics of each run: those of its median step, and some of the entire run.
-- One row: a device of a rank; in a run without a device, a rank, whose host is measured instead.
-- Start here: How long does a step of each run take?
-- Materialised: DuckDB plans it with all its optimizers; one of them is switched off when files are
-- written.
-- Indexed: Queries over all runs read it.
--
-- The median step is the step of median wall time on the device; for an even number of steps, the
-- shorter of the two middle ones. A run without steps counts as one step. These sums always hold:
-- wall = busy + idle; busy = compute + communication + copy + compiled_code − overlap, where null
-- counts as 0. `run_parts` divides the idle time by cause, and `run_totals` has the sums over all
-- steps. If the host is measured, its outermost operators replace kernels: `compute` is their time
-- on all threads, and idle time is time without any operator, either in Python or waiting.
--
-- run_id, rank, device_id, device, measure
-- steps                     number of steps; 1 if none were found
-- steps_from                how the steps were found, as in `steps`; run if none were found
-- step_name
-- source_id                 input file of the median step; null if no steps were found
-- step                      number of the median step (`steps.step`); null if no steps were found
-- is_slowest_of_rank, is_default
-- default_reason            why pages and commands show its rank by default: straggler or median;
--                           null for other devices, and in a run of one rank
-- wall_ns                   wall time of the median step, ns
-- range_ns                  length of the median step on the host, as the profiler shows it, ns
-- compared_steps            number of steps that the next five columns compare: all but the one
--                           that fills the pipeline, as in `step_parts`; null if none were found
-- min_wall_ns               wall time of the shortest step, ns
-- q1_wall_ns                first quartile of the steps' wall times, ns
-- q3_wall_ns                third quartile of the steps' wall times, ns
-- max_wall_ns               wall time of the longest step, ns
-- is_steady                 whether there are at least three steps, and the middle half of their
--                           wall times, from q1 to q3, spans at most 10 % of the median; null if no
--                           steps were found
-- mean_wall_ns              mean wall time of a step, ns: the time from the first step's start to
--                           the last one's end, or to the end of the work that they launched,
--                           including the time between steps, divided by the number of steps
-- busy_ns                   union of the activities over all streams or threads, ns
-- idle_ns                   idle time, ns: wall minus busy
-- compute_ns, communication_ns, copy_ns, compiled_code_ns, overlap_ns
-- exposed_communication_ns  communication time while no compute kernel ran, ns; null for a host
-- exposed_copy_ns
-- bubbles                   number of gaps in the median step
-- activities                number of kernels, copies and memsets, or of operators of a host
-- kernels
-- mean_kernel_ns            mean duration of the kernels, ns; null if there are none
-- launches, graph_launches, launch_call_ns, short_kernels
-- outside_busy_ns           busy time outside of the window of all steps, ns; no other metric
--                           includes it
-- peak_bytes                the most device memory in use, or host memory if the host is measured,
--                           in the entire recording, bytes; null if not recorded
-- compilations              number of compilations in the measured steps; null if not known
-- recompiles                number of compilations in the measured steps that were recompilations
-- compile_ns                time that the compilations took, ns
-- is_typed
WITH
devices AS (
    SELECT
        rank,
        device_id,
        device,
        measure,
        any_value(steps_from) AS steps_from,
        min(step_name) AS step_name,
        if(any_value(steps_from) = 'run', 1, sum(steps))::BIGINT AS steps,
        count(*) OVER (PARTITION BY rank) AS devices
    FROM work_windows
    GROUP BY rank, device_id, device, measure
),

spreads AS (
    SELECT
        device_id,
        min(wall_ns) AS min_wall_ns,
        quantile_disc(wall_ns, 0.25) AS q1_wall_ns,
        quantile_disc(wall_ns, 0.75) AS q3_wall_ns,
        max(wall_ns) AS max_wall_ns,
        count(*) AS compared
    FROM step_metrics
    WHERE start_ns IS NOT NULL AND fill_ns = 0
    GROUP BY device_id
),

-- Without steps, each file of a rank has a row of its own, so the rows are added up.
medians AS (
    SELECT
        device_id,
        if(any_value(step) IS NULL, NULL, any_value(source_id)) AS source_id,
        any_value(step) AS step,
        sum(COLUMNS([
            'range_ns', 'exposed_communication_ns', 'exposed_copy_ns', 'bubbles',
            'activities', 'kernels', 'launches', 'graph_launches', 'launch_call_ns',
            'short_kernels'
        ]))::BIGINT
    FROM step_metrics
    WHERE is_median
    GROUP BY device_id
),

times AS (
    SELECT
        parts.device_id,
        sum(parts.ns) AS wall_ns,
        sum(parts.ns) FILTER (WHERE NOT parts.is_idle) AS busy_ns,
        sum(parts.ns) FILTER (WHERE parts.is_idle) AS idle_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'compute') AS compute_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'communication') AS communication_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'copy') AS copy_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'compiled_code') AS compiled_code_ns,
        -sum(parts.ns) FILTER (WHERE parts.part = 'overlap') AS overlap_ns
    FROM step_parts AS parts
    INNER JOIN step_metrics AS step
        ON
            parts.source_id = step.source_id
            AND parts.device_id = step.device_id
            AND parts.step IS NOT DISTINCT FROM step.step
    WHERE step.is_median
    GROUP BY parts.device_id
),

totals AS (
    SELECT device_id, sum(wall_ns) AS wall_ns FROM step_metrics GROUP BY device_id
),

-- The wall time of a rank is that of its slowest device; the median is the lower one of two ranks.
ranks AS (
    SELECT
        found.rank,
        count(*) OVER () AS ranks,
        found.rank IN (SELECT stragglers.rank FROM stragglers WHERE is_straggler) AS is_straggler,
        row_number() OVER (ORDER BY max(times.wall_ns), found.rank) = (ranks + 1) // 2
            AS is_median
    FROM devices AS found
    INNER JOIN times ON found.device_id = times.device_id
    GROUP BY found.rank
),

shown AS (
    SELECT
        rank,
        CASE WHEN ranks > 1 THEN if(is_straggler, 'straggler', 'median') END AS reason
    FROM ranks
    ORDER BY is_straggler DESC, is_median DESC
    LIMIT 1
),

outside AS (
    SELECT
        islands.device_id,
        sum(
            islands.end_ns - islands.start_ns - greatest(
                least(islands.end_ns, measured.end_ns)
                - greatest(islands.start_ns, measured.start_ns),
                0
            )
        )::BIGINT AS busy_ns
    FROM busy_islands AS islands
    INNER JOIN work_windows AS measured USING (source_id, device_id)
    GROUP BY islands.device_id
),

peaks AS (
    SELECT
        rank,
        if(device_type = 'cpu', 'host', 'device') AS measure,
        device_id,
        arg_min(
            peak_bytes, (list_position(['snapshot', 'trace', 'timeline'], origin), -peak_bytes)
        ) AS peak_bytes,
        count(*) OVER (PARTITION BY rank, measure) AS devices
    FROM memory_peak
    GROUP BY rank, measure, device_id
)

SELECT
    found.rank,
    found.device_id,
    found.device,
    found.measure,
    found.steps,
    found.steps_from,
    found.step_name,
    medians.source_id,
    medians.step,
    row_number() OVER (PARTITION BY found.rank ORDER BY times.wall_ns DESC, found.device) = 1
        AS is_slowest_of_rank,
    shown.rank IS NOT NULL AND is_slowest_of_rank AS is_default,
    if(is_default, shown.reason, NULL) AS default_reason,
    times.wall_ns::BIGINT AS wall_ns,
    medians.range_ns,
    if(found.steps_from = 'run', NULL, spreads.compared) AS compared_steps,
    if(found.steps_from = 'run', NULL, spreads.min_wall_ns) AS min_wall_ns,
    if(found.steps_from = 'run', NULL, spreads.q1_wall_ns) AS q1_wall_ns,
    if(found.steps_from = 'run', NULL, spreads.q3_wall_ns) AS q3_wall_ns,
    if(found.steps_from = 'run', NULL, spreads.max_wall_ns) AS max_wall_ns,
    if(
        found.steps_from = 'run',
        NULL,
        spreads.compared >= 3 AND spreads.q3_wall_ns - spreads.q1_wall_ns <= 0.1 * times.wall_ns
    ) AS is_steady,
    (totals.wall_ns // found.steps)::BIGINT AS mean_wall_ns,
    COLUMNS(times.* EXCLUDE (device_id, wall_ns))::BIGINT,
    COLUMNS(medians.* EXCLUDE (
        device_id, source_id, step, range_ns, kernels, launches, graph_launches, launch_call_ns,
        short_kernels
    )),
    medians.kernels,
    (times.compute_ns + times.communication_ns) / nullif(medians.kernels, 0) AS mean_kernel_ns,
    medians.launches,
    medians.graph_launches,
    medians.launch_call_ns,
    medians.short_kernels,
    coalesce(outside.busy_ns, 0) AS outside_busy_ns,
    peaks.peak_bytes,
    compiled.compilations,
    compiled.recompiles,
    compiled.compile_ns,
    found.rank IN (SELECT rank FROM ops WHERE input_types IS NOT NULL) AS is_typed
FROM devices AS found
INNER JOIN times ON found.device_id = times.device_id
INNER JOIN medians ON found.device_id = medians.device_id
INNER JOIN spreads ON found.device_id = spreads.device_id
INNER JOIN totals ON found.device_id = totals.device_id
LEFT JOIN shown ON found.rank = shown.rank
LEFT JOIN outside ON found.device_id = outside.device_id
-- A profiler can number devices differently from PyTorch, but a single device is the same one.
LEFT JOIN peaks
    ON
        found.rank = peaks.rank
        AND found.measure = peaks.measure
        AND (found.device_id = peaks.device_id OR (found.devices = 1 AND peaks.devices = 1))
LEFT JOIN measured_compilations AS compiled ON found.rank = compiled.rank
ORDER BY found.rank, found.device;
