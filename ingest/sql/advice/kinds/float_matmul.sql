-- Meaning: Matrix multiplications and convolutions of float32 inputs on a device with tensor
--   cores, as in `float_matmuls`, minus their time at the peak rate of half precision.
-- Title: float32 instead of tensor cores
-- Short title: float32
-- Colour: compute
-- Applies to: device
-- Needs: device_name, tensor_cores, input_types
-- Names: op
-- Assumes: the device's peak rate
-- Finding: {calls} matrix multiplications and convolutions had float32 inputs, and no kernel name
--   shows that they used tensor cores. They took {work} of {steps}. In half precision they would
--   take at least {left}, because its peak rate on {device} is {speedup} times as high.
-- Remedy: Use bfloat16 or half precision (torch.autocast), or
--   torch.set_float32_matmul_precision("high") if the device supports it. Check the results.
-- Evidence: float_matmuls
-- Evidence of: op
-- Evidence sums: sum(device_ns)::BIGINT AS device_ns, sum(calls)::BIGINT AS calls,
--   sum(kernels)::BIGINT AS kernels, arg_max(kernel, device_ns) AS kernel
-- Evidence order: device_ns DESC, op
SELECT
    run_id,
    device_id,
    rank,
    device,
    step,
    is_median,
    op AS name,
    calls,
    device_ns AS work_ns,
    device_ns AS named_ns
FROM float_matmuls;
