-- The critical path of a step: `critical_path(run, of_rank, of_step)`, in order of time. Without a
-- step, that of a recording in which no steps were found. The rows add up to the step's time.
-- One row: a stretch of the path.
--
-- rank      rank of the process
-- ordinal   place in the path, from 0
-- kind      what took the time, as `critical_path_kinds` explains
-- event_id  the span or the device activity (`events.event_id`); null for the host's time between
--           operators
-- name      its name
-- op        the innermost cpu_op around it, or around its launch
-- module    innermost nn.Module around that
-- lane      `thread N`, or `stream N`; null between operators
-- start_ns  Unix time, ns
-- dur_ns    its length, ns
CREATE MACRO critical_path(run, of_rank := 0, of_step := NULL) AS TABLE
    SELECT rank, ordinal, kind, event_id, name, op, module, lane, start_ns, dur_ns
    FROM critical_paths
    WHERE run_id = run AND rank = of_rank AND step IS NOT DISTINCT FROM of_step
    ORDER BY source_id, ordinal;
