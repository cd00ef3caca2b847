-- Metrics of each run, per step: those of `run_totals` divided by the number of steps. Times are
-- rounded to whole nanoseconds so that they add up as the totals do: wall = lead + span + tail;
-- span = busy + bubble; busy = compute + communication + copy + generated − overlap. `run_parts`
-- divides the bubble by its causes.
-- One row: a device of a rank of a run; of a run without a device, a rank.
--
-- run_id                    the run
-- rank                      rank of the process
-- device                    number of the device; null where the host is measured
-- measure                   device, or host in a run without device activities
-- steps                     steps by which the figures are divided; 1 where none were found
-- steps_from                how they were found: ProfilerStep, annotation, module; run: not at all
-- step_name                 what a step is, as in `steps`
-- slowest                   whether it has the longest wall time of the run
-- slowest_of_rank           whether it has the longest of its rank
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
-- mean_kernel_ns            mean duration of these, ns; null where there is none
-- launches                  calls that launched these; null where no launch was recorded
-- graph_launches            of those, launches of a recorded graph
-- launch_call_ns            time that the host spent in these calls, ns
-- short_kernels             kernels that took less time than their launch call, outside of graphs;
--                           null where no launch was recorded
-- peak_bytes                the most memory in use of the device, or of the host's, in the whole
--                           recording, bytes; null where not recorded
-- compilations              compilations that ran in the measured steps, of all steps; null where
--                           unknown
-- recompiles                of those, recompilations
-- compile_ns                time that they took, ns
WITH
-- First, because it makes few chunks of rows from the many files, of a row or two each.
ordered AS (
    SELECT
        *,
        row_number() OVER run_order = 1 AS slowest,
        row_number() OVER rank_order = 1 AS slowest_of_rank
    FROM run_totals AS totals
    -- A macro with a parameter `rank` cannot read a view that names such a column by itself.
    WINDOW
        run_order AS (
            PARTITION BY run_id ORDER BY wall_ns // steps DESC, totals.rank, device
        ),
        rank_order AS (
            PARTITION BY run_id, totals.rank ORDER BY wall_ns // steps DESC, device
        )
),

-- What the parts up to each one take, in whole nanoseconds: differences of these add up.
reached AS (
    SELECT
        *,
        lead_ns // steps AS to_lead_ns,
        (lead_ns + bubble_ns) // steps AS to_bubble_ns,
        (lead_ns + bubble_ns + compute_ns) // steps AS to_compute_ns,
        (lead_ns + bubble_ns + compute_ns + coalesce(communication_ns, 0)) // steps
            AS to_communication_ns,
        (wall_ns - tail_ns + overlap_ns - coalesce(generated_ns, 0)) // steps AS to_copy_ns,
        (wall_ns - tail_ns + overlap_ns) // steps AS to_generated_ns,
        (wall_ns - tail_ns) // steps AS to_overlap_ns
    FROM ordered
)

SELECT
    run_id,
    reached.rank,
    device,
    measure,
    steps,
    steps_from,
    step_name,
    slowest,
    slowest_of_rank,
    wall_ns // steps AS wall_ns,
    to_lead_ns AS lead_ns,
    wall_ns // steps - to_overlap_ns AS tail_ns,
    to_overlap_ns - to_lead_ns AS span_ns,
    to_overlap_ns - to_bubble_ns AS busy_ns,
    to_bubble_ns - to_lead_ns AS bubble_ns,
    to_compute_ns - to_bubble_ns AS compute_ns,
    if(communication_ns IS NULL, NULL, to_communication_ns - to_compute_ns) AS communication_ns,
    if(copy_ns IS NULL, NULL, to_copy_ns - to_communication_ns) AS copy_ns,
    if(generated_ns IS NULL, NULL, to_generated_ns - to_copy_ns) AS generated_ns,
    to_generated_ns - to_overlap_ns AS overlap_ns,
    exposed_communication_ns // steps AS exposed_communication_ns,
    exposed_copy_ns // steps AS exposed_copy_ns,
    outside_busy_ns // steps AS outside_busy_ns,
    bubbles / steps AS bubbles,
    activities / steps AS activities,
    kernels / steps AS kernels,
    (compute_ns + communication_ns) / nullif(kernels, 0) AS mean_kernel_ns,
    launches / steps AS launches,
    graph_launches / steps AS graph_launches,
    launch_call_ns // steps AS launch_call_ns,
    short_kernels / steps AS short_kernels,
    peak_bytes,
    compilations,
    recompiles,
    compile_ns // steps AS compile_ns
FROM reached;
