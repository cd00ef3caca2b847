-- Peak memory in use in each part of a call, on the device with the highest peak; on the host in a
-- run without a device.
-- One row: a row of `stages` for which memory was recorded on the same clock.
SELECT
    stretch.source_id,
    stretch.call,
    stretch.stage,
    stretch.step,
    stretch.block_class,
    max(peaks.peak_bytes) AS peak_bytes
FROM memory_peaks('stage_memory_stretches') AS peaks
INNER JOIN stage_stretches AS stretch
    ON peaks.source_id = stretch.source_id AND peaks.step = stretch.start_ns
WHERE peaks.measure = if(EXISTS (FROM kernels), 'device', 'host')
GROUP BY stretch.source_id, stretch.call, stretch.stage, stretch.step, stretch.block_class;
