-- What the host did in pipeline calls of a run without a device, over all threads.
-- One row: an interval in a call, with the columns of `host_stretches_of`.
-- Materialised: it is read more than once.
SELECT
    source_id,
    measured.device_id,
    measured.call,
    if(moment.call = measured.call, moment.stage, NULL) AS stage,
    if(moment.call = measured.call, moment.step, NULL) AS step,
    if(moment.call = measured.call, moment.block_class, NULL) AS block_class,
    part,
    operators,
    dur_ns
FROM host_stretches_of('stage_windows', 'stage_host_changes');
