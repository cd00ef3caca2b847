-- The times at which the step of an input file changes.
-- One row: a change. `step` is the innermost step from that time, or -1 outside of steps.
SELECT
    source_id,
    from_ns,
    coalesce(CASE WHEN inside THEN step END, -1) AS step
FROM step_moments('steps');
