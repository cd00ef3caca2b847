-- The moments at which the call, stage, step or block on a thread changes.
-- One row: a moment of one of these, as in `step_moments`; null outside.
-- Materialised: ASOF joins read it.
SELECT source_id AS track, from_ns, step AS span FROM step_moments('stage_spans');
