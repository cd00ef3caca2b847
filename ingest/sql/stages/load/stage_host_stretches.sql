-- What the host did in the calls of pipelines of a run without a device, all threads together.
-- One row: a stretch of time in a call, with what `host_stretches_of` says of it.
-- Materialised: its reader asks for it more than once.
SELECT
    source_id,
    measured.call,
    if(moment.call = measured.call, moment.stage, NULL) AS stage,
    if(moment.call = measured.call, moment.step, NULL) AS step,
    if(moment.call = measured.call, moment.block_class, NULL) AS block_class,
    part,
    operators,
    dur_ns
FROM host_stretches_of('stage_windows', 'stage_host_changes');
