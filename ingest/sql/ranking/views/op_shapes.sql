-- Input shapes of the operators that used a device, with the device time of each.
-- One row: shapes and types with which an operator was called, on one device of one rank of a run.
--
-- run_id
-- level       op (outermost operator around the launch) or leaf (innermost)
-- name        operator, as in `ranking`
-- rank, device
-- input_dims  shapes of the inputs, as recorded (JSON); null if the profiler recorded none
-- input_types, shapes
-- calls       number of calls of the operator that used the device
-- activities  number of device activities that the calls launched
-- device_ns   sum of the durations of the launched device activities, ns
-- percent     share of the operator's device time on that device, 0 to 100
-- mean_ns     mean device time of a call, ns
SELECT
    run_id,
    level,
    name,
    rank,
    device,
    input_dims,
    input_types,
    any_value(shapes) AS shapes,
    count(*) AS calls,
    sum(activities)::BIGINT AS activities,
    sum(device_ns)::BIGINT AS device_ns,
    100.0 * sum(device_ns)
    / nullif(sum(sum(device_ns)) OVER (PARTITION BY run_id, level, name, rank, device), 0)
        AS percent,
    avg(device_ns) AS mean_ns
FROM op_calls
GROUP BY run_id, level, name, rank, device, input_dims, input_types;
