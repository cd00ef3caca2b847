-- Sums over all measured steps of each run, including the time between steps. `run_metrics` has the
-- median step.
-- One row: a device of a rank of a run; in a run without a device, a rank, whose host is measured.
--
-- Activities count with their part inside of this time. These sums always hold: wall = fill + busy
-- + idle; busy = compute + communication + copy + compiled_code − overlap, where null counts as 0.
--
-- run_id, device_id, rank, device, measure
-- steps                     number of steps; 1 if none were found
-- wall_ns                   time from the first step's start to the last one's end, or to the end
--                           of the work that they launched if that is later, ns
-- fill_ns                   time that fills the pipeline, as in `step_parts`, ns
-- busy_ns                   union of the activities over all streams or threads, ns
-- idle_ns                   idle time, ns
-- compute_ns, communication_ns, copy_ns, compiled_code_ns, overlap_ns
-- exposed_communication_ns  communication time while no compute kernel ran, ns; null for a host
-- exposed_copy_ns
-- bubbles                   number of gaps in the window
-- activities                number of kernels, copies and memsets in the window, or of operators of
--                           a host
-- kernels, launches, graph_launches, launch_call_ns, short_kernels
WITH
times AS (
    SELECT
        parts.run_id,
        parts.device_id,
        parts.rank,
        parts.device,
        sum(parts.ns)::BIGINT AS wall_ns,
        coalesce(sum(parts.ns) FILTER (WHERE part = 'fill'), 0)::BIGINT AS fill_ns,
        (sum(parts.ns) FILTER (WHERE NOT is_idle))::BIGINT AS busy_ns,
        (sum(parts.ns) FILTER (WHERE is_idle))::BIGINT AS idle_ns,
        (sum(parts.ns) FILTER (WHERE part = 'compute'))::BIGINT AS compute_ns,
        (sum(parts.ns) FILTER (WHERE part = 'communication'))::BIGINT AS communication_ns,
        (sum(parts.ns) FILTER (WHERE part = 'copy'))::BIGINT AS copy_ns,
        (sum(parts.ns) FILTER (WHERE part = 'compiled_code'))::BIGINT AS compiled_code_ns,
        (-sum(parts.ns) FILTER (WHERE part = 'overlap'))::BIGINT AS overlap_ns
    FROM step_parts AS parts
    GROUP BY ALL
),

counts AS (
    SELECT
        step.run_id,
        step.device_id,
        greatest(count(step.step), 1) AS steps,
        sum(COLUMNS([
            'exposed_communication_ns', 'exposed_copy_ns', 'bubbles', 'activities',
            'kernels', 'launches', 'graph_launches', 'launch_call_ns', 'short_kernels'
        ]))::BIGINT
    FROM step_metrics AS step
    GROUP BY ALL
)

SELECT
    times.run_id,
    times.device_id,
    times.rank,
    times.device,
    if(counts.exposed_copy_ns IS NULL, 'host', 'device') AS measure,
    counts.steps,
    times.* EXCLUDE (run_id, device_id, rank, device),
    counts.* EXCLUDE (run_id, device_id, steps)
FROM times
INNER JOIN counts USING (run_id, device_id);
