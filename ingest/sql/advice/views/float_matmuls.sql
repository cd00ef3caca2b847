-- Matrix multiplications and convolutions of float32 inputs in the measured steps, if no kernel
-- name shows that they ran on tensor cores. Whether the device has tensor cores is not checked.
-- There are no rows if the profiler did not record the types of inputs.
-- One row: an operator in a step of one device of one rank of a run.
-- Stored: most runs have no such rows, so queries skip them.
--
-- run_id, device_id, rank, device
-- step       step that launched its kernels (`steps.step`)
-- is_median
-- op         innermost cpu_op around the launch
-- calls      number of calls of the operator
-- kernels    number of compute kernels that the calls launched, including kernels that only prepare
--            inputs or collect results
-- device_ns  time of the compute kernels that the calls launched, ns
-- kernel     compute kernel of the calls with the longest single duration
WITH
matmuls AS (
    SELECT
        kernel.run_id,
        kernel.device_id,
        kernel.rank,
        kernel.device,
        kernel.step,
        kernel.is_median,
        op.name AS op,
        op.event_id,
        kernel.name AS kernel,
        kernel.inside_ns
    FROM measured_kernels AS kernel
    INNER JOIN ops AS op ON kernel.run_id = op.run_id AND kernel.op_id = op.event_id
    WHERE
        kernel.class = 'compute'
        AND is_matmul(op.name)
        AND contains(op.input_types, '"float"')
        AND NOT regexp_matches(op.input_types, '(?i)half|bfloat16|double|float8')
),

calls AS (
    SELECT
        run_id,
        device_id,
        rank,
        device,
        min(step) AS step,
        bool_or(is_median) AS is_median,
        op,
        event_id,
        count(*) AS kernels,
        sum(inside_ns)::BIGINT AS device_ns,
        arg_max(kernel, inside_ns) AS kernel,
        max(inside_ns) AS longest_ns
    FROM matmuls
    GROUP BY run_id, device_id, rank, device, op, event_id
    HAVING NOT bool_or(uses_matrix_cores(kernel))
)

SELECT
    run_id,
    device_id,
    rank,
    device,
    step,
    is_median,
    op,
    count(*) AS calls,
    sum(kernels)::BIGINT AS kernels,
    sum(device_ns)::BIGINT AS device_ns,
    arg_max(kernel, longest_ns) AS kernel
FROM calls
GROUP BY ALL;
