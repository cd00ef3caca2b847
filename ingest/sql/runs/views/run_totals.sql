-- Sums over all measured steps of each run, with the time between steps. `run_metrics` has the
-- median step.
-- One row: a device of a rank of a run; of a run without a device, a rank, whose host is measured.
--
-- A device's window goes from the start of the first activity that the steps launched to the end of
-- the last; what ran in it counts as far as it lies in it. Always: wall = lead + span + tail; span
-- = busy + bubble; busy = compute + communication + copy + compiled_code − overlap, where null
-- counts 0.
--
-- run_id                    the run
-- rank                      rank of the process
-- device                    number of the device; null where the host is measured
-- measure                   device, or host in a run without device activities
-- steps                     number of steps; 1 where none were found
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
-- compiled_code_ns          of a host, time in compiled graphs outside of operators: compiled code
--                           without a record of its own; null for a device, ns
-- overlap_ns                time that was counted more than once in these, ns
-- exposed_communication_ns  communication while no compute kernel ran, ns; null for a host
-- exposed_copy_ns           copies while neither compute nor communication ran, ns; null for a host
-- bubbles                   gaps in the window
-- activities                kernels, copies and sets in the window, or operators of a host
-- kernels                   of those, kernels; null for a host
-- launches                  calls that launched these; null where no launch was recorded
-- graph_launches            of those, launches of a recorded graph
-- launch_call_ns            time that the host spent in these calls, ns
-- short_kernels             kernels that took less time than their launch call, outside of graphs;
--                           null where no launch was recorded
WITH
times AS (
    SELECT
        parts.run_id,
        parts.rank,
        parts.device,
        sum(parts.ns)::BIGINT AS wall_ns,
        (sum(parts.ns) FILTER (WHERE part = 'lead'))::BIGINT AS lead_ns,
        (sum(parts.ns) FILTER (WHERE part = 'tail'))::BIGINT AS tail_ns,
        (sum(parts.ns) FILTER (WHERE is_idle IS NOT NULL))::BIGINT AS span_ns,
        (sum(parts.ns) FILTER (WHERE NOT is_idle))::BIGINT AS busy_ns,
        (sum(parts.ns) FILTER (WHERE is_idle))::BIGINT AS bubble_ns,
        (sum(parts.ns) FILTER (WHERE part = 'compute'))::BIGINT AS compute_ns,
        (sum(parts.ns) FILTER (WHERE part = 'communication'))::BIGINT AS communication_ns,
        (sum(parts.ns) FILTER (WHERE part = 'copy'))::BIGINT AS copy_ns,
        (sum(parts.ns) FILTER (WHERE part = 'compiled_code'))::BIGINT AS compiled_code_ns,
        (-sum(parts.ns) FILTER (WHERE part = 'overlap'))::BIGINT AS overlap_ns
    FROM step_parts AS parts
    GROUP BY parts.run_id, parts.rank, parts.device
),

counts AS (
    SELECT
        step.run_id,
        step.rank,
        step.device,
        greatest(count(step.step), 1) AS steps,
        sum(step.exposed_communication_ns)::BIGINT AS exposed_communication_ns,
        sum(step.exposed_copy_ns)::BIGINT AS exposed_copy_ns,
        sum(step.bubbles)::BIGINT AS bubbles,
        sum(step.activities)::BIGINT AS activities,
        sum(step.kernels)::BIGINT AS kernels,
        sum(step.launches)::BIGINT AS launches,
        sum(step.graph_launches)::BIGINT AS graph_launches,
        sum(step.launch_call_ns)::BIGINT AS launch_call_ns,
        sum(step.short_kernels)::BIGINT AS short_kernels
    FROM step_metrics AS step
    GROUP BY step.run_id, step.rank, step.device
)

SELECT
    times.run_id,
    times.rank,
    times.device,
    if(counts.exposed_copy_ns IS NULL, 'host', 'device') AS measure,
    counts.steps,
    times.* EXCLUDE (run_id, rank, device),
    counts.* EXCLUDE (run_id, rank, device, steps)
FROM times
INNER JOIN counts
    ON
        times.run_id = counts.run_id
        AND times.rank = counts.rank
        AND times.device IS NOT DISTINCT FROM counts.device;
