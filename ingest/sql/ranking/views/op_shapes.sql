-- Input shapes of the operators that used a device, with the device time of each.
-- One row: shapes and types an operator was called with, on one device of one rank of a run.
--
-- run_id       the run
-- level        op (outermost operator around the launch) or leaf (innermost)
-- name         operator, as in `ranking`
-- rank         rank of the process
-- device       number of the device
-- input_dims   shapes of the inputs, as recorded (JSON); null when the profiler recorded none
-- input_types  types of the inputs, as recorded (JSON)
-- calls        calls of the operator that used the device
-- activities   device activities they launched
-- device_ns    sum of the activities' durations, ns
-- percent      of the operator's device time on that device, 0 to 100
-- mean_ns      device time of a call, on average, ns
SELECT
    run_id,
    level,
    name,
    rank,
    device,
    input_dims,
    input_types,
    count(*) AS calls,
    sum(activities)::BIGINT AS activities,
    sum(device_ns)::BIGINT AS device_ns,
    100.0 * sum(device_ns)
    / nullif(sum(sum(device_ns)) OVER (PARTITION BY run_id, level, name, rank, device), 0)
        AS percent,
    avg(device_ns) AS mean_ns
FROM op_calls
GROUP BY run_id, level, name, rank, device, input_dims, input_types;
