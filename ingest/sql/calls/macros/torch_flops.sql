-- `torch_flops(name, dims, concrete)`: the floating-point operations of a call as torch's profiler
-- counts them, from the shapes of its inputs (BIGINT[][]) and, for a convolution, their scalar
-- values (VARCHAR[]). Null for other operators and without shapes. Computed in DOUBLE so that no
-- shape overflows; exact below 2⁵³. Source: computeFlops in torch/csrc/profiler/util.cpp.
CREATE MACRO torch_flops(name, dims, concrete) AS try_cast(
    CASE
        WHEN name IN ('aten::mul', 'aten::add') THEN elements(dims[1])
        WHEN name IN ('aten::mm', 'aten::bmm') THEN 2 * elements(dims[1]) * dims[2][-1]
        WHEN name IN ('aten::addmm', 'aten::baddbmm') THEN 2 * elements(dims[2]) * dims[3][-1]
        WHEN name = 'aten::conv2d' AND len(dims[1]) = 4 AND len(dims[2]) = 4
            THEN
                2e0 * dims[1][1] * dims[1][2] * dims[2][1] * dims[2][3] * dims[2][4]
                * convolved_size(3, dims, concrete) * convolved_size(4, dims, concrete)
                / nullif(try_cast(concrete[7] AS BIGINT), 0)
    END AS BIGINT
);
