-- What a run is judged by, per step: the figures of `run_figures` divided by its steps. Times are
-- rounded to whole nanoseconds in such a way that they add up as the totals do: wall = lead +
-- span + tail; span = busy + bubble; bubble = the sum of its causes; busy = compute +
-- communication + copy + generated − overlap.
-- One row: a device of a rank of a run; of a run without a device, a rank.
--
-- run_id                    the run
-- rank                      rank of the process
-- device                    number of the device; null where the host is measured
-- measure                   device, or host in a run without device activities
-- steps                     steps by which the figures are divided; 1 where none were found
-- steps_from                how they were found: ProfilerStep, annotation, module; run: not at all
-- step_name                 what a step is, as in `measured_steps`
-- slowest                   whether it has the longest wall time of the run
-- slowest_of_rank           whether it has the longest of its rank
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
    FROM run_figures AS figures
    -- A macro with a parameter `rank` cannot read a view that names such a column by itself.
    WINDOW
        run_order AS (
            PARTITION BY run_id ORDER BY wall_ns // steps DESC, figures.rank, device
        ),
        rank_order AS (
            PARTITION BY run_id, figures.rank ORDER BY wall_ns // steps DESC, device
        )
),

totals AS (
    SELECT
        *,
        [
            lead_ns,
            bubble_host_ns,
            bubble_sync_ns,
            bubble_dataloader_ns,
            bubble_compile_ns,
            bubble_launch_ns,
            bubble_dependency_ns,
            bubble_unknown_ns,
            compute_ns,
            communication_ns,
            copy_ns,
            generated_ns,
            -overlap_ns,
            tail_ns
        ] AS parts
    FROM ordered
),

-- What each part has reached, in whole nanoseconds: differences of these add up.
reached AS (
    SELECT
        *,
        [0] || list_transform(
            range(1, 15), LAMBDA i: list_sum(parts[:i])::BIGINT // steps
        ) AS reached_ns
    FROM totals
),

per_step AS (
    SELECT
        *,
        list_transform(
            range(1, 15),
            LAMBDA i: if(parts[i] IS NULL, NULL, reached_ns[i + 1] - reached_ns[i])
        ) AS shares
    FROM reached
)

SELECT
    run_id,
    per_step.rank,
    device,
    measure,
    steps,
    steps_from,
    step_name,
    slowest,
    slowest_of_rank,
    wall_ns // steps AS wall_ns,
    shares[1] AS lead_ns,
    shares[14] AS tail_ns,
    list_sum(shares[2:13])::BIGINT AS span_ns,
    list_sum(shares[9:13])::BIGINT AS busy_ns,
    list_sum(shares[2:8])::BIGINT AS bubble_ns,
    shares[2] AS bubble_host_ns,
    shares[3] AS bubble_sync_ns,
    shares[4] AS bubble_dataloader_ns,
    shares[5] AS bubble_compile_ns,
    shares[6] AS bubble_launch_ns,
    shares[7] AS bubble_dependency_ns,
    shares[8] AS bubble_unknown_ns,
    shares[9] AS compute_ns,
    shares[10] AS communication_ns,
    shares[11] AS copy_ns,
    shares[12] AS generated_ns,
    -shares[13] AS overlap_ns,
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
FROM per_step;
