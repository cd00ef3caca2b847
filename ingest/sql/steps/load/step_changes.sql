-- The moments at which the step of a source changes.
-- One row: a moment. `step` is the innermost step from then on, -1 outside of steps.
SELECT
    source_id,
    from_ns,
    coalesce(CASE WHEN inside THEN step END, -1) AS step
FROM step_moments('steps');
