-- The steps of each device's memory for `step_moments`, with numbers of allocator actions instead
-- of times. `source_id` is the number of the memory curve (`curve_id`).
-- One row: a step with at least one action.
SELECT
    devices.curve_id AS source_id,
    steps.step,
    steps.start_ordinal AS start_ns,
    steps.end_ordinal - steps.start_ordinal AS dur_ns
FROM memory_steps AS steps
INNER JOIN memory_devices AS devices
    ON
        steps.source_id = devices.source_id
        AND steps.device_id = memory_device_id(steps.rank, devices.device_label)
WHERE steps.end_ordinal > steps.start_ordinal;
