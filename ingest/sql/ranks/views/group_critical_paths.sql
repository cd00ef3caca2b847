-- The critical path of each step across ranks: what the job waited for. From the last end of all
-- ranks, it goes backward along that rank's own critical path. Where the rank waited in a call for
-- another rank that came last (`collectives.is_last`), the path goes on with the critical path of
-- that rank before it came, and so on until the step began. The rows follow each other without a
-- gap, and add up to the time from the start of the step on the first rank of the path to the last
-- end.
-- One row: an interval of the path of a step.
--
-- All times are on the reference clock (`rank_clocks.reference_rank`). Ranks with different
-- references cannot be compared, so each reference has its own path. A rank alone has its own path.
-- A call of a host, such as one of Gloo, lies on the path if the host does nothing else until the
-- call ends.
--
-- run_id
-- reference_rank
-- step          number of the step (`steps.step`); null if no steps were found
-- cycle         cycle of the profiler in which it was recorded, from 1
-- is_median     whether the path has the median length of all steps
-- ordinal       position of the interval in the path, from 0
-- source_id, rank
-- stretch       number of the stretch on this rank (`group_path_ranks.ordinal`)
-- waited_in_id  the call in which the rank waited until the rank before it in the path came
--               (`collectives.collective_id`); null except in the first interval after a change
-- kind          kind of interval, as in `critical_path_kinds`
-- event_id      the span or device activity (`events.event_id`); null for the host's time between
--               operators
-- name          name of the span or activity
-- op            innermost cpu_op around the span, or around the activity's launch
-- module        innermost nn.Module around the operator
-- side          host or device
-- device_id, device
-- lane          `thread N`, `stream N` or `no stream`; null between operators
-- start_ns      Unix time at which the interval begins, on the reference clock, ns
-- dur_ns        length of the interval, ns
WITH
pieces AS (
    SELECT
        paths.*,
        stretches.reference_rank,
        stretches.cycle,
        stretches.is_median AS is_median_path,
        stretches.ordinal AS stretch,
        stretches.waited_in_id AS call_id,
        stretches.start_ns AS since_ns,
        greatest(
            stretches.start_ns, paths.start_ns - clock_offset(clocks, paths.start_ns)
        ) AS from_ns,
        least(
            stretches.start_ns + stretches.dur_ns,
            paths.start_ns
            + paths.dur_ns
            - clock_offset(clocks, paths.start_ns + paths.dur_ns)
        ) AS until_ns
    FROM group_path_ranks AS stretches
    INNER JOIN critical_paths AS paths
        ON
            stretches.run_id = paths.run_id
            AND stretches.source_id = paths.source_id
            AND stretches.step IS NOT DISTINCT FROM paths.step
    INNER JOIN rank_clocks AS clocks
        ON stretches.run_id = clocks.run_id AND stretches.rank = clocks.rank
)

SELECT
    run_id,
    reference_rank,
    step,
    cycle,
    is_median_path AS is_median,
    row_number() OVER (
        PARTITION BY run_id, reference_rank, cycle, step ORDER BY from_ns
    ) - 1 AS ordinal,
    source_id,
    pieces.rank,
    stretch,
    if(from_ns = since_ns, call_id, NULL) AS waited_in_id,
    kind,
    event_id,
    name,
    op,
    module,
    side,
    device_id,
    device,
    lane,
    from_ns AS start_ns,
    until_ns - from_ns AS dur_ns
FROM pieces
WHERE until_ns > from_ns;
