-- What `capture calibrate` measured on the devices of runs.
-- One row: a device or host of a run whose run.json has a calibration of such a device.
--
-- run_id, device_id
-- measured_at         when it was measured, UTC
-- tb_per_s            bytes that a copy reads and writes, 10¹² per second; null if it failed
-- measured_launch_ns  time of the host for a launch of a small operator, ns; null if it failed
-- flops_per_s         operations per second of matrix products, by type
WITH
measured AS (
    SELECT
        run_id,
        try_cast(run_json::JSON ->> '$.calibration.measured_at' AS TIMESTAMP) AS measured_at,
        unnest(try_cast(run_json::JSON -> '$.calibration.devices' AS JSON[])) AS device
    FROM runs
    WHERE contains(run_json::VARCHAR, '"calibration"')
)

SELECT
    devices.run_id,
    devices.device_id,
    measured.measured_at,
    positive(try_cast(measured.device ->> '$.bytes_per_s' AS DOUBLE)) / 1e12 AS tb_per_s,
    try_cast(measured.device ->> '$.launch_ns' AS BIGINT) AS measured_launch_ns,
    try_cast(measured.device -> '$.flops_per_s' AS MAP (VARCHAR, DOUBLE)) AS flops_per_s
FROM measured
INNER JOIN devices
    ON
        measured.run_id = devices.run_id
        AND CASE
            WHEN measured.device ->> '$.device_type' = 'cpu' THEN devices.device_type = 'cpu'
            ELSE
                devices.device_type IS DISTINCT FROM 'cpu'
                AND measured.device ->> '$.name' = devices.name
                AND try_cast(measured.device ->> '$.multiprocessors' AS INTEGER)
                IS NOT DISTINCT FROM devices.multiprocessors
                AND coalesce(
                    abs(
                        try_cast(measured.device ->> '$.memory_bytes' AS DOUBLE)
                        - devices.memory_bytes
                    ) <= 0.03 * devices.memory_bytes,
                    TRUE
                )
        END
QUALIFY row_number() OVER (
    PARTITION BY devices.run_id, devices.device_id ORDER BY measured.device::VARCHAR
) = 1;
