-- What a run is judged by: the time of its measured steps and what it consists of, as totals.
-- `run_summary` divides them by the steps, `run_diff` sets those of two runs side by side.
-- One row: a device of a rank; in a run without a device, a rank, whose host is measured instead.
-- Materialised: DuckDB plans it with all its optimizers; files are written with one switched off.
--
-- The measured steps are those of table `measured_steps`. A device's window goes from the start of
-- the first activity that they launched to the end of the last; what ran in it counts as far as it
-- lies in it. Always: wall = lead + span + tail; span = busy + bubble; bubble = the sum of its
-- causes; busy = compute + communication + copy + generated − overlap, where null counts 0.
-- Where the host is measured, its outermost operators take the place of kernels: `compute` is their
-- time, on all threads; a bubble is time without any, in Python or waiting.
--
-- run_id                    the run
-- rank                      rank of the process
-- device                    number of the device; null where the host is measured
-- measure                   device, or host in a run without device activities
-- steps                     number of steps; 1 where none were found
-- steps_from                how they were found, as in `measured_steps`; run where they were not
-- step_name                 what a step is, as there
-- wall_ns                   from the first step's start to the last one's end, or to the end of
--                           what they launched if that is later, ns
-- lead_ns                   of that, before the first activity, ns
-- tail_ns                   after the last, ns
-- span_ns                   between: the window, ns
-- busy_ns                   union of the activities over all streams or threads, ns
-- bubble_ns                 span less busy, ns
-- bubble_host_ns            bubbles by cause, as in `bubbles`; of a host, what no other cause has
-- bubble_sync_ns            the same; null for a host, as are launch, dependency and unknown
-- bubble_dataloader_ns      the same; of a host, time in a data loader's operator and no other
-- bubble_compile_ns         the same; of a host, time in a phase of compilation and no other
-- bubble_launch_ns          the same
-- bubble_dependency_ns      the same
-- bubble_unknown_ns         the same
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
activities AS (
    SELECT
        source_id,
        device,
        start_ns,
        dur_ns,
        class,
        kind = 'kernel' AS is_kernel,
        launch_id,
        launch_dur_ns,
        graph_launch
    FROM kernels
    UNION ALL BY NAME
    SELECT source_id, device, start_ns, dur_ns, 'compute' AS class
    FROM host_activities
    WHERE kind = 'operator'
),

clipped AS (
    SELECT
        activities.*,
        least(activities.start_ns + activities.dur_ns, measured.to_ns)
        - greatest(activities.start_ns, measured.from_ns) AS inside_ns
    FROM activities
    INNER JOIN measured_windows AS measured
        ON
            activities.source_id = measured.source_id
            AND activities.device IS NOT DISTINCT FROM measured.device
),

inside AS (
    SELECT * FROM clipped WHERE inside_ns > 0 OR (inside_ns = 0 AND dur_ns = 0)
),

durations AS (
    SELECT
        source_id,
        device,
        sum(inside_ns) FILTER (WHERE class = 'compute') AS compute_ns,
        sum(inside_ns) FILTER (WHERE class = 'communication') AS communication_ns,
        sum(inside_ns) FILTER (WHERE class = 'copy') AS copy_ns,
        count(*) AS activities,
        count(*) FILTER (WHERE is_kernel) AS kernels,
        count(*) FILTER (WHERE is_kernel AND NOT graph_launch AND dur_ns < launch_dur_ns)
            AS short_kernels
    FROM inside
    GROUP BY source_id, device
),

-- A call can launch several kernels.
launch_calls AS (
    SELECT
        source_id,
        device,
        any_value(launch_dur_ns) AS dur_ns,
        bool_or(graph_launch) AS of_graph
    FROM inside
    WHERE is_kernel AND launch_id IS NOT NULL
    GROUP BY source_id, device, launch_id
),

launched AS (
    SELECT
        source_id,
        device,
        count(*) AS launches,
        count(*) FILTER (WHERE of_graph) AS graph_launches,
        sum(dur_ns) AS launch_call_ns
    FROM launch_calls
    GROUP BY source_id, device
),

islands_inside AS (
    SELECT
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
        source_id,
        device,
        sum(inside_ns) FILTER (WHERE class = 'all') AS busy_ns,
        sum(dur_ns) FILTER (WHERE class = 'all') AS all_busy_ns,
        sum(inside_ns) FILTER (WHERE class = 'compute') AS computing_ns,
        sum(inside_ns) FILTER (WHERE class = 'working') AS working_ns,
        sum(inside_ns) FILTER (WHERE class = 'operators') AS operators_ns,
        sum(inside_ns) FILTER (WHERE class = 'all_or_loading') AS with_loading_ns,
        sum(inside_ns) FILTER (WHERE class = 'all_loading_or_compiling') AS with_compiling_ns,
        count(*) FILTER (WHERE class = 'all' AND touches) AS stretches
    FROM islands_inside
    GROUP BY source_id, device
),

idle AS (
    SELECT
        gap.source_id,
        gap.device,
        sum(gap.dur_ns) FILTER (WHERE gap.cause = 'host') AS host_ns,
        sum(gap.dur_ns) FILTER (WHERE gap.cause = 'sync') AS sync_ns,
        sum(gap.dur_ns) FILTER (WHERE gap.cause = 'dataloader') AS dataloader_ns,
        sum(gap.dur_ns) FILTER (WHERE gap.cause = 'compile') AS compile_ns,
        sum(gap.dur_ns) FILTER (WHERE gap.cause = 'launch') AS launch_ns,
        sum(gap.dur_ns) FILTER (WHERE gap.cause = 'dependency') AS dependency_ns,
        sum(gap.dur_ns) FILTER (WHERE gap.cause = 'unknown') AS unknown_ns
    FROM bubbles AS gap
    INNER JOIN measured_windows AS measured
        ON
            gap.source_id = measured.source_id
            AND gap.device IS NOT DISTINCT FROM measured.device
            AND gap.start_ns >= measured.from_ns
            AND gap.start_ns + gap.dur_ns <= measured.to_ns
    GROUP BY gap.source_id, gap.device
),

of_files AS (
    SELECT
        measured.*,
        durations.* EXCLUDE (source_id, device),
        launched.* EXCLUDE (source_id, device),
        unions.* EXCLUDE (source_id, device),
        idle.* EXCLUDE (source_id, device)
    FROM measured_windows AS measured
    LEFT JOIN durations
        ON
            measured.source_id = durations.source_id
            AND measured.device IS NOT DISTINCT FROM durations.device
    LEFT JOIN launched
        ON
            measured.source_id = launched.source_id
            AND measured.device IS NOT DISTINCT FROM launched.device
    LEFT JOIN unions
        ON
            measured.source_id = unions.source_id
            AND measured.device IS NOT DISTINCT FROM unions.device
    LEFT JOIN idle
        ON
            measured.source_id = idle.source_id
            AND measured.device IS NOT DISTINCT FROM idle.device
),

totals AS (
    SELECT
        rank,
        device,
        measure,
        measure = 'device' AS of_device,
        any_value(steps_from) AS steps_from,
        min(step_name) AS step_name,
        if(any_value(steps_from) = 'run', 1, sum(steps))::BIGINT AS steps,
        sum(wall_to_ns - wall_from_ns) AS wall_ns,
        sum(from_ns - wall_from_ns) AS lead_ns,
        sum(wall_to_ns - to_ns) AS tail_ns,
        sum(to_ns - from_ns) AS span_ns,
        coalesce(sum(busy_ns), 0) AS busy_ns,
        coalesce(sum(all_busy_ns), 0) AS all_busy_ns,
        coalesce(sum(operators_ns), 0) AS operators_ns,
        coalesce(sum(with_loading_ns), 0) AS with_loading_ns,
        coalesce(sum(with_compiling_ns), 0) AS with_compiling_ns,
        coalesce(sum(computing_ns), 0) AS computing_ns,
        coalesce(sum(working_ns), 0) AS working_ns,
        coalesce(sum(compute_ns), 0) AS compute_ns,
        coalesce(sum(communication_ns), 0) AS communication_ns,
        coalesce(sum(copy_ns), 0) AS copy_ns,
        coalesce(sum(host_ns), 0) AS host_ns,
        coalesce(sum(sync_ns), 0) AS sync_ns,
        coalesce(sum(dataloader_ns), 0) AS dataloader_ns,
        coalesce(sum(compile_ns), 0) AS compile_ns,
        coalesce(sum(launch_ns), 0) AS launch_ns,
        coalesce(sum(dependency_ns), 0) AS dependency_ns,
        coalesce(sum(unknown_ns), 0) AS unknown_ns,
        coalesce(sum(activities), 0) AS activities,
        coalesce(sum(kernels), 0) AS kernels,
        coalesce(sum(launches), 0) AS launches,
        coalesce(sum(graph_launches), 0) AS graph_launches,
        coalesce(sum(launch_call_ns), 0) AS launch_call_ns,
        coalesce(sum(short_kernels), 0) AS short_kernels,
        sum(greatest(coalesce(stretches, 0) - 1, 0)) AS bubbles
    FROM of_files
    GROUP BY rank, device, measure
),

launching AS (
    SELECT rank, count(launch_id) > 0 AS recorded FROM kernels GROUP BY rank
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
    GROUP BY rank, memory_peak.device
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
    total.wall_ns::BIGINT AS wall_ns,
    total.lead_ns::BIGINT AS lead_ns,
    total.tail_ns::BIGINT AS tail_ns,
    total.span_ns::BIGINT AS span_ns,
    total.busy_ns::BIGINT AS busy_ns,
    (total.span_ns - total.busy_ns)::BIGINT AS bubble_ns,
    if(total.of_device, total.host_ns, total.span_ns - total.with_compiling_ns)::BIGINT
        AS bubble_host_ns,
    if(total.of_device, total.sync_ns, NULL)::BIGINT AS bubble_sync_ns,
    if(total.of_device, total.dataloader_ns, total.with_loading_ns - total.busy_ns)::BIGINT
        AS bubble_dataloader_ns,
    if(total.of_device, total.compile_ns, total.with_compiling_ns - total.with_loading_ns)::BIGINT
        AS bubble_compile_ns,
    if(total.of_device, total.launch_ns, NULL)::BIGINT AS bubble_launch_ns,
    if(total.of_device, total.dependency_ns, NULL)::BIGINT AS bubble_dependency_ns,
    if(total.of_device, total.unknown_ns, NULL)::BIGINT AS bubble_unknown_ns,
    total.compute_ns::BIGINT AS compute_ns,
    if(total.of_device, total.communication_ns, NULL)::BIGINT AS communication_ns,
    if(total.of_device, total.copy_ns, NULL)::BIGINT AS copy_ns,
    if(total.of_device, NULL, total.busy_ns - total.operators_ns)::BIGINT AS generated_ns,
    if(
        total.of_device,
        total.compute_ns + total.communication_ns + total.copy_ns - total.busy_ns,
        total.compute_ns - total.operators_ns
    )::BIGINT AS overlap_ns,
    if(total.of_device, total.working_ns - total.computing_ns, NULL)::BIGINT
        AS exposed_communication_ns,
    if(total.of_device, total.busy_ns - total.working_ns, NULL)::BIGINT AS exposed_copy_ns,
    (total.all_busy_ns - total.busy_ns)::BIGINT AS outside_busy_ns,
    total.bubbles::BIGINT AS bubbles,
    total.activities::BIGINT AS activities,
    if(total.of_device, total.kernels, NULL)::BIGINT AS kernels,
    if(launching.recorded, total.launches, NULL)::BIGINT AS launches,
    if(launching.recorded, total.graph_launches, NULL)::BIGINT AS graph_launches,
    if(launching.recorded, total.launch_call_ns, NULL)::BIGINT AS launch_call_ns,
    if(launching.recorded, total.short_kernels, NULL)::BIGINT AS short_kernels,
    peaks.peak_bytes,
    compiled.compilations,
    compiled.recompiles,
    compiled.compile_ns
FROM counted AS total
LEFT JOIN launching ON total.rank = launching.rank
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
