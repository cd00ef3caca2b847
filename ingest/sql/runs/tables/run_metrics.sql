-- Metrics of each run: those of its median step, and some of the whole run.
-- One row: a device of a rank; of a run without a device, a rank, whose host is measured instead.
-- Start here: How long does a step of each run take?
-- Materialised: DuckDB plans it with all its optimizers; files are written with one switched off.
-- Indexed: It is asked of all runs.
--
-- The median step is the step of median wall time on the device, of two the shorter; a run without
-- steps counts as one step. Always: wall = lead + span + tail; span = busy + bubble; busy = compute
-- + communication + copy + compiled_code − overlap, where null counts 0. `run_parts` divides the
-- bubble by its causes, and `run_totals` has the sums over all steps. Where the host is measured,
-- its outermost operators take the place of kernels: `compute` is their time, on all threads; a
-- bubble is time without any, in Python or waiting.
--
-- run_id                    the run
-- rank                      rank of the process
-- device                    number of the device; null where the host is measured
-- measure                   device, or host in a run without device activities
-- steps                     number of steps; 1 where none were found
-- steps_from                how they were found, as in `steps`; run where they were not
-- step_name                 what a step is, as there
-- source_id                 input file of the median step; null where no steps were found
-- step                      number of the median step (`steps.step`); null where no steps were
--                           found
-- is_slowest                whether the device has the longest wall time of the run
-- is_slowest_of_rank        whether it has the longest of its rank
-- wall_ns                   wall time of the median step: the sum of its parts, ns
-- min_wall_ns               wall time of the shortest step, ns
-- q1_wall_ns                wall time that a quarter of the steps do not exceed, ns
-- q3_wall_ns                wall time that three quarters of the steps do not exceed, ns
-- max_wall_ns               wall time of the longest step, ns
-- is_steady                 whether there are at least three steps, and the middle half of their
--                           wall times, from q1 to q3, spans at most 10 % of the median; null where
--                           no steps were found
-- mean_wall_ns              from the first step's start to the last one's end, or to the end of
--                           what they launched, with the time between steps, divided by their
--                           number, ns
-- lead_ns                   of the median step, time before the run's first activity, ns
-- tail_ns                   time after its last, ns
-- span_ns                   the rest of the wall time, ns
-- busy_ns                   union of the activities over all streams or threads, ns
-- bubble_ns                 span less busy, ns
-- compute_ns                sum of the durations of compute kernels, or of a host's operators, ns
-- communication_ns          sum of those of communication kernels, ns; null for a host
-- copy_ns                   sum of those of copies and sets, ns; null for a host
-- compiled_code_ns          of a host, time in compiled graphs outside of operators: compiled code
--                           without a record of its own; null for a device, ns
-- overlap_ns                time that was counted more than once in these, ns
-- exposed_communication_ns  communication while no compute kernel ran, ns; null for a host
-- exposed_copy_ns           copies while neither compute nor communication ran, ns; null for a host
-- bubbles                   gaps
-- activities                kernels, copies and sets, or operators of a host
-- kernels                   of those, kernels; null for a host
-- mean_kernel_ns            mean duration of these, ns; null where there is none
-- launches                  calls that launched these; null where no launch was recorded
-- graph_launches            of those, launches of a recorded graph
-- launch_call_ns            time that the host spent in these calls, ns
-- short_kernels             kernels that took less time than their launch call, outside of graphs;
--                           null where no launch was recorded
-- outside_busy_ns           busy time outside of all steps' window, in no other metric, ns
-- peak_bytes                the most memory in use of the device, or of the host's, in the whole
--                           recording, bytes; null where not recorded
-- compilations              compilations that ran in the measured steps; null where unknown
-- recompiles                of those, recompilations
-- compile_ns                time that they took, ns
WITH
devices AS (
    SELECT
        rank,
        device,
        measure,
        any_value(steps_from) AS steps_from,
        min(step_name) AS step_name,
        if(any_value(steps_from) = 'run', 1, sum(steps))::BIGINT AS steps,
        count(*) OVER (PARTITION BY rank) AS devices
    FROM work_windows
    GROUP BY rank, device, measure
),

spreads AS (
    SELECT
        rank,
        device,
        min(wall_ns) AS min_wall_ns,
        quantile_disc(wall_ns, 0.25) AS q1_wall_ns,
        quantile_disc(wall_ns, 0.75) AS q3_wall_ns,
        max(wall_ns) AS max_wall_ns
    FROM step_metrics
    WHERE start_ns IS NOT NULL
    GROUP BY rank, device
),

-- Without steps, each file of a rank is a row of its own: they count together.
medians AS (
    SELECT
        rank,
        device,
        if(any_value(step) IS NULL, NULL, any_value(source_id)) AS source_id,
        any_value(step) AS step,
        sum(exposed_communication_ns)::BIGINT AS exposed_communication_ns,
        sum(exposed_copy_ns)::BIGINT AS exposed_copy_ns,
        sum(bubbles)::BIGINT AS bubbles,
        sum(activities)::BIGINT AS activities,
        sum(kernels)::BIGINT AS kernels,
        sum(launches)::BIGINT AS launches,
        sum(graph_launches)::BIGINT AS graph_launches,
        sum(launch_call_ns)::BIGINT AS launch_call_ns,
        sum(short_kernels)::BIGINT AS short_kernels
    FROM step_metrics
    WHERE is_median
    GROUP BY rank, device
),

times AS (
    SELECT
        parts.rank,
        parts.device,
        sum(parts.ns) AS wall_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'lead') AS lead_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'tail') AS tail_ns,
        sum(parts.ns) FILTER (WHERE parts.is_idle IS NOT NULL) AS span_ns,
        sum(parts.ns) FILTER (WHERE NOT parts.is_idle) AS busy_ns,
        sum(parts.ns) FILTER (WHERE parts.is_idle) AS bubble_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'compute') AS compute_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'communication') AS communication_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'copy') AS copy_ns,
        sum(parts.ns) FILTER (WHERE parts.part = 'compiled_code') AS compiled_code_ns,
        -sum(parts.ns) FILTER (WHERE parts.part = 'overlap') AS overlap_ns
    FROM step_parts AS parts
    INNER JOIN step_metrics AS step
        ON
            parts.source_id = step.source_id
            AND parts.device IS NOT DISTINCT FROM step.device
            AND parts.step IS NOT DISTINCT FROM step.step
    WHERE step.is_median
    GROUP BY parts.rank, parts.device
),

totals AS (
    SELECT rank, device, sum(wall_ns) AS wall_ns FROM step_metrics GROUP BY rank, device
),

outside AS (
    SELECT
        measured.rank,
        islands.device,
        sum(
            islands.end_ns - islands.start_ns - greatest(
                least(islands.end_ns, measured.end_ns)
                - greatest(islands.start_ns, measured.start_ns),
                0
            )
        )::BIGINT AS busy_ns
    FROM busy_islands AS islands
    INNER JOIN work_windows AS measured
        ON
            islands.source_id = measured.source_id
            AND islands.device IS NOT DISTINCT FROM measured.device
    GROUP BY measured.rank, islands.device
),

peaks AS (
    SELECT
        rank,
        if(device_type = 'cpu', 'host', 'device') AS measure,
        device,
        arg_min(
            peak_bytes, (list_position(['snapshot', 'trace', 'timeline'], origin), -peak_bytes)
        ) AS peak_bytes,
        count(*) OVER (PARTITION BY rank, measure) AS devices
    FROM memory_peak
    GROUP BY rank, measure, device
)

SELECT
    found.rank,
    found.device,
    found.measure,
    found.steps,
    found.steps_from,
    found.step_name,
    medians.source_id,
    medians.step,
    row_number() OVER (ORDER BY times.wall_ns DESC, found.rank, found.device) = 1 AS is_slowest,
    row_number() OVER (PARTITION BY found.rank ORDER BY times.wall_ns DESC, found.device) = 1
        AS is_slowest_of_rank,
    times.wall_ns::BIGINT AS wall_ns,
    if(found.steps_from = 'run', NULL, spreads.min_wall_ns) AS min_wall_ns,
    if(found.steps_from = 'run', NULL, spreads.q1_wall_ns) AS q1_wall_ns,
    if(found.steps_from = 'run', NULL, spreads.q3_wall_ns) AS q3_wall_ns,
    if(found.steps_from = 'run', NULL, spreads.max_wall_ns) AS max_wall_ns,
    if(
        found.steps_from = 'run',
        NULL,
        found.steps >= 3 AND spreads.q3_wall_ns - spreads.q1_wall_ns <= 0.1 * times.wall_ns
    ) AS is_steady,
    (totals.wall_ns // found.steps)::BIGINT AS mean_wall_ns,
    COLUMNS(times.* EXCLUDE (rank, device, wall_ns))::BIGINT,
    COLUMNS(medians.* EXCLUDE (
        rank, device, source_id, step, kernels, launches, graph_launches, launch_call_ns,
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
    compiled.compile_ns
FROM devices AS found
INNER JOIN times ON found.rank = times.rank AND found.device IS NOT DISTINCT FROM times.device
INNER JOIN medians ON found.rank = medians.rank AND found.device IS NOT DISTINCT FROM medians.device
INNER JOIN spreads ON found.rank = spreads.rank AND found.device IS NOT DISTINCT FROM spreads.device
INNER JOIN totals ON found.rank = totals.rank AND found.device IS NOT DISTINCT FROM totals.device
LEFT JOIN outside ON found.rank = outside.rank AND found.device IS NOT DISTINCT FROM outside.device
-- A profiler can number devices otherwise than PyTorch: the only one of a rank is the only one.
LEFT JOIN peaks
    ON
        found.rank = peaks.rank
        AND found.measure = peaks.measure
        AND (
            found.device IS NOT DISTINCT FROM peaks.device
            OR (found.devices = 1 AND peaks.devices = 1)
        )
LEFT JOIN measured_compilations AS compiled ON found.rank = compiled.rank
ORDER BY found.rank, found.device;
