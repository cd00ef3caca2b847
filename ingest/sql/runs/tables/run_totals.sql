-- Metrics of a run: the sums over its measured steps. `run_metrics` divides them by the number of
-- steps, and `run_diff` compares those of two runs.
-- One row: a device of a rank; in a run without a device, a rank, whose host is measured instead.
-- Materialised: DuckDB plans it with all its optimizers; files are written with one switched off.
--
-- The measured steps are those of `steps`, and their times are sums of `step_parts`, which
-- has the causes of idle time too. A device's window goes from the start of the first activity that
-- the steps launched to the end of the last; what ran in it counts as far as it lies in it. Always:
-- wall = lead + span + tail; span = busy + bubble; busy = compute + communication + copy +
-- generated − overlap, where null counts 0.
-- Where the host is measured, its outermost operators take the place of kernels: `compute` is their
-- time, on all threads; a bubble is time without any, in Python or waiting.
--
-- run_id                    the run
-- rank                      rank of the process
-- device                    number of the device; null where the host is measured
-- measure                   device, or host in a run without device activities
-- steps                     number of steps; 1 where none were found
-- steps_from                how they were found, as in `steps`; run where they were not
-- step_name                 what a step is, as there
-- wall_ns                   from the first step's start to the last one's end, or to the end of
--                           what they launched if that is later, ns
-- lead_ns                   of that, before the first activity, ns
-- tail_ns                   after the last, ns
-- span_ns                   between: the window, ns
-- busy_ns                   union of the activities over all streams or threads, ns
-- bubble_ns                 span less busy, ns
-- compute_ns                sum of the durations of compute kernels, or of a host's operators, ns
-- communication_ns          sum of those of communication kernels, ns; null for a host
-- copy_ns                   sum of those of copies and sets, ns; null for a host
-- generated_ns              of a host, time in compiled graphs outside of operators: generated code
--                           without a record of its own; null for a device, ns
-- overlap_ns                time that was counted more than once in these, ns
-- exposed_communication_ns  communication while no compute kernel ran, ns; null for a host
-- exposed_copy_ns           copies while neither compute nor communication ran, ns; null for a host
-- outside_busy_ns           busy time outside of the window, in no other figure, ns
-- bubbles                   gaps in the window
-- activities                kernels, copies and sets in the window, or operators of a host
-- kernels                   of those, kernels; null for a host
-- launches                  calls that launched these; null where no launch was recorded
-- graph_launches            of those, launches of a recorded graph
-- launch_call_ns            time that the host spent in these calls, ns
-- short_kernels             kernels that took less time than their launch call, outside of graphs;
--                           null where no launch was recorded
-- peak_bytes                the most memory in use of the device, or of the host's, in the whole
--                           recording, bytes; null where not recorded
-- compilations              compilations that ran in the measured steps; null where unknown
-- recompiles                of those, recompilations
-- compile_ns                time that they took, ns
WITH
times AS (
    SELECT
        rank,
        device,
        sum(ns) AS wall_ns,
        sum(ns) FILTER (WHERE part = 'lead') AS lead_ns,
        sum(ns) FILTER (WHERE part = 'tail') AS tail_ns,
        sum(ns) FILTER (WHERE is_idle IS NOT NULL) AS span_ns,
        sum(ns) FILTER (WHERE NOT is_idle) AS busy_ns,
        sum(ns) FILTER (WHERE is_idle) AS bubble_ns,
        sum(ns) FILTER (WHERE part = 'compute') AS compute_ns,
        sum(ns) FILTER (WHERE part = 'communication') AS communication_ns,
        sum(ns) FILTER (WHERE part = 'copy') AS copy_ns,
        sum(ns) FILTER (WHERE part = 'generated') AS generated_ns,
        -sum(ns) FILTER (WHERE part = 'overlap') AS overlap_ns
    FROM step_parts
    GROUP BY rank, device
),

counts AS (
    SELECT
        rank,
        device,
        sum(activities) AS activities,
        sum(kernels) AS kernels,
        sum(launches) AS launches,
        sum(graph_launches) AS graph_launches,
        sum(launch_call_ns) AS launch_call_ns,
        sum(short_kernels) AS short_kernels
    FROM step_metrics
    GROUP BY rank, device
),

islands_inside AS (
    SELECT
        measured.rank,
        islands.source_id,
        islands.device,
        islands.class,
        islands.end_ns - islands.start_ns AS dur_ns,
        islands.end_ns >= measured.from_ns AND islands.start_ns <= measured.to_ns AS touches,
        greatest(
            least(islands.end_ns, measured.to_ns) - greatest(islands.start_ns, measured.from_ns), 0
        ) AS inside_ns
    FROM busy_islands AS islands
    INNER JOIN measured_windows AS measured
        ON
            islands.source_id = measured.source_id
            AND islands.device IS NOT DISTINCT FROM measured.device
),

unions AS (
    SELECT
        rank,
        source_id,
        device,
        sum(inside_ns) FILTER (WHERE class = 'all') AS busy_ns,
        sum(dur_ns - inside_ns) FILTER (WHERE class = 'all') AS outside_busy_ns,
        sum(inside_ns) FILTER (WHERE class = 'compute') AS computing_ns,
        sum(inside_ns) FILTER (WHERE class = 'working') AS working_ns,
        greatest(count(*) FILTER (WHERE class = 'all' AND touches) - 1, 0) AS bubbles
    FROM islands_inside
    GROUP BY rank, source_id, device
),

stretches AS (
    SELECT
        rank,
        device,
        sum(bubbles) AS bubbles,
        sum(outside_busy_ns) AS outside_busy_ns,
        coalesce(sum(working_ns), 0) - coalesce(sum(computing_ns), 0) AS exposed_communication_ns,
        coalesce(sum(busy_ns), 0) - coalesce(sum(working_ns), 0) AS exposed_copy_ns
    FROM unions
    GROUP BY rank, device
),

totals AS (
    SELECT
        rank,
        device,
        measure,
        any_value(steps_from) AS steps_from,
        min(step_name) AS step_name,
        if(any_value(steps_from) = 'run', 1, sum(steps))::BIGINT AS steps
    FROM measured_windows
    GROUP BY rank, device, measure
),

-- A profiler can number devices otherwise than PyTorch: the only one of a rank is the only one.
peaks AS (
    SELECT
        rank,
        if(device = 'cpu', 'host', 'device') AS measure,
        try_cast(regexp_extract(device, '[0-9]+$') AS BIGINT) AS device,
        arg_min(
            peak_bytes, (list_position(['snapshot', 'trace', 'timeline'], origin), -peak_bytes)
        ) AS peak_bytes,
        count(*) OVER (PARTITION BY rank, measure) AS devices
    FROM memory_peak
    GROUP BY rank, measure, device
),

counted AS (
    SELECT *, count(*) OVER (PARTITION BY rank) AS devices FROM totals
)

SELECT
    total.rank,
    total.device,
    total.measure,
    total.steps,
    total.steps_from,
    total.step_name,
    COLUMNS(times.* EXCLUDE (rank, device))::BIGINT,
    if(total.measure = 'device', coalesce(stretches.exposed_communication_ns, 0), NULL)::BIGINT
        AS exposed_communication_ns,
    if(total.measure = 'device', coalesce(stretches.exposed_copy_ns, 0), NULL)::BIGINT
        AS exposed_copy_ns,
    coalesce(stretches.outside_busy_ns, 0)::BIGINT AS outside_busy_ns,
    coalesce(stretches.bubbles, 0)::BIGINT AS bubbles,
    counts.activities::BIGINT AS activities,
    counts.kernels::BIGINT AS kernels,
    counts.launches::BIGINT AS launches,
    counts.graph_launches::BIGINT AS graph_launches,
    counts.launch_call_ns::BIGINT AS launch_call_ns,
    counts.short_kernels::BIGINT AS short_kernels,
    peaks.peak_bytes,
    compiled.compilations,
    compiled.recompiles,
    compiled.compile_ns
FROM counted AS total
INNER JOIN times ON total.rank = times.rank AND total.device IS NOT DISTINCT FROM times.device
INNER JOIN counts ON total.rank = counts.rank AND total.device IS NOT DISTINCT FROM counts.device
LEFT JOIN stretches
    ON total.rank = stretches.rank AND total.device IS NOT DISTINCT FROM stretches.device
LEFT JOIN peaks
    ON
        total.rank = peaks.rank
        AND total.measure = peaks.measure
        AND (
            total.device IS NOT DISTINCT FROM peaks.device
            OR (total.devices = 1 AND peaks.devices = 1)
        )
LEFT JOIN measured_compilations AS compiled ON total.rank = compiled.rank
ORDER BY total.rank, total.device;
