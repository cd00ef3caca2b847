-- Part of `advice_checks`: the rows of `shape_work` of the median step, without those whose time
-- counts in other advice.
-- One row: an operator with the same shapes and type in the median step of a device.
-- Indexed: Advice on all runs reads it.
--
-- run_id, rank, device_id, device
-- step    step of its first kernel (`steps.step`)
-- is_median
-- op         name of the operator
-- input_dims
-- kind       kind of work, as in `work_formulas`
-- dtype      compute type, as in `op_work`
-- precision  the peak that limits it, as in `device_peaks`
-- calls
-- flops      sum of the floating-point operations; null if unknown of a call
-- bytes      sum of the bytes read and written; null if unknown of a call
-- work_ns    time of its kernels, copies and memsets, ns
-- other_ns   part of it that counts in other advice, ns
-- kernel     its longest kernel
-- waves
SELECT *
FROM shape_work
WHERE is_median AND work_ns > other_ns;
