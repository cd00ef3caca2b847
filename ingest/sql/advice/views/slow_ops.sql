-- Operators of the measured steps that take longer than 80 % of the roofline allows, and the time
-- that reaching it would save. Time that counts in other advice is left out: kernels shorter than
-- their launch (`short_kernels`), copies, attention that runs as separate operators
-- (`unfused_attentions`), and products in float32 that another type would make faster
-- (`float_matmuls`). `op_efficiency` has all calls.
-- One row: an operator with the same shapes and type in a step of a device.
--
-- run_id, rank, device_id, device
-- step    step of its first kernel (`steps.step`)
-- is_median
-- op           name of the operator
-- input_dims
-- kind         kind of work, as in `work_formulas`
-- dtype        compute type, as in `op_work`
-- calls
-- work_ns      time of its kernels, without time that counts in other advice, ns
-- limited_by   its longer time at the limits: compute (the peak) or memory (the bandwidth)
-- roofline_ns  that time, ns
-- saved_80_ns  time that reaching 80 % of the roofline would save, ns
-- kernel       its longest kernel
-- waves
SELECT * EXCLUDE (tb_per_s, speedup)
FROM limited_work_of('shape_work')
WHERE saved_80_ns IS NOT NULL;
