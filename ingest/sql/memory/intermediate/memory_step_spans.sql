-- The steps of each device's memory for `step_moments`, with numbers of allocator actions instead
-- of times. `source_id` is the device.
-- One row: a step with at least one action.
SELECT
    devices.device_id AS source_id,
    steps.step,
    steps.start_ordinal AS start_ns,
    steps.end_ordinal - steps.start_ordinal AS dur_ns
FROM memory_steps AS steps
INNER JOIN memory_devices AS devices
    ON
        steps.source_id = devices.source_id
        AND steps.device_type = device_type_of(devices.device_label)
        AND steps.device IS NOT DISTINCT FROM device_of(devices.device_label)
WHERE steps.end_ordinal > steps.start_ordinal;
