-- The critical path of a step, in time order: `critical_path(run, of_rank, of_step, of_source)`.
-- `of_step` is null for a recording without steps. The rows add up to the step's wall
-- time. If several files of a rank have the step, each has a path, and `of_source` chooses one.
-- One row: an interval of the path.
--
-- source_id, rank
-- ordinal   position of the interval in the path, from 0
-- kind      kind of interval, as in `critical_path_kinds`
-- event_id  the span or device activity (`events.event_id`); null for the host's time between
--           operators
-- name      name of the span or activity
-- op        innermost cpu_op around the span, or around the activity's launch
-- module    innermost nn.Module around the operator
-- side      host or device
-- device
-- lane      `thread N`, `stream N` or `no stream`; null between operators
-- start_ns  Unix time at which the interval begins, ns
-- dur_ns    length of the interval, ns
CREATE MACRO critical_path(run, of_rank := 0, of_step := NULL, of_source := NULL) AS TABLE
    SELECT
        source_id,
        rank,
        ordinal,
        kind,
        event_id,
        name,
        op,
        module,
        side,
        device,
        lane,
        start_ns,
        dur_ns
    FROM critical_paths
    WHERE
        run_id = run
        AND rank = of_rank
        AND step IS NOT DISTINCT FROM of_step
        AND source_id = coalesce(of_source, source_id)
    ORDER BY source_id, ordinal;
