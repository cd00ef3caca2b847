-- Times at which the call, stage, step or block on a thread changes.
-- One row: such a time, as in `step_moments`; `span` is null outside spans.
-- Materialised: ASOF joins read it.
SELECT source_id AS track, from_ns, step AS span FROM step_moments('stage_spans');
