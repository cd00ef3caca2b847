-- Calls of the operators that used a device, at the two levels of operator rankings.
-- One row: a call of an operator, with its activities on one device.
--
-- run_id
-- level       op (outermost operator around the launch) or leaf (innermost)
-- name        operator, as in `ranking`
-- rank, device
-- event_id    the call (`ops.event_id`)
-- step        step in which the call began (`steps.step`)
-- start_ns    Unix time at which the call began, ns
-- dur_ns      length of the call on the host, ns
-- activities  number of activities that the call launched on the device
-- device_ns   sum of the durations of the call's activities on the device, ns
-- module      innermost nn.Module around the call
-- input_dims, input_types, concrete_inputs
-- shapes      types and shapes of the tensors among the inputs, for example `bf16 [32, 77, 768]`;
--             null if none were recorded
WITH launched AS (
    SELECT
        run_id,
        level,
        name,
        rank,
        device,
        owner_id,
        count(*) AS activities,
        sum(dur_ns)::BIGINT AS device_ns
    FROM ranked_kernels
    WHERE owner_id IS NOT NULL
    GROUP BY run_id, level, name, rank, device, owner_id
)

SELECT
    launched.run_id,
    launched.level,
    launched.name,
    launched.rank,
    launched.device,
    launched.owner_id AS event_id,
    ops.step,
    ops.start_ns,
    ops.dur_ns,
    launched.activities,
    launched.device_ns,
    ops.module,
    ops.input_dims,
    ops.input_types,
    ops.concrete_inputs,
    shapes_text(ops.input_dims, ops.input_types) AS shapes
FROM launched
INNER JOIN ops ON launched.run_id = ops.run_id AND launched.owner_id = ops.event_id;
