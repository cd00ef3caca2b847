-- The host's activity in a run without a device, with its steps.
-- One row: an interval of `host_stretches_of`; `step` is null between steps.
-- Materialised: it is read more than once.
SELECT
    source_id,
    measured.device_id,
    nullif(moment.step, -1) AS step,
    dur_ns,
    operators,
    part
FROM host_stretches_of('work_windows', 'step_changes');
