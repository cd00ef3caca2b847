-- What the host did in a run without a device, with its steps.
-- One row: a stretch of time, as `host_stretches_of` has it; `step` is null between steps.
-- Materialised: its reader asks for it more than once.
SELECT
    source_id,
    measured.rank,
    nullif(moment.step, -1) AS step,
    dur_ns,
    operators,
    part
FROM host_stretches_of('work_windows', 'step_changes');
