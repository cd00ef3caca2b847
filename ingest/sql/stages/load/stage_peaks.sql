-- The most memory in use in each stretch of a call, of its device with the most; of the host's in a
-- run without a device.
-- One row: a cell of `stages` whose memory was recorded on its clock.
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
