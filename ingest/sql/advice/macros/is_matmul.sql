-- `is_matmul(op)`: whether an operator multiplies matrices or convolves, by its name.
CREATE MACRO is_matmul(op) AS regexp_matches(op, concat(
    '^aten::(_?(addmm|addmm_activation|bmm|baddbmm|addbmm|mm|matmul|linear|bilinear)|',
    '(cudnn_|miopen_|slow_|thnn_)?_?conv(olution|_?[a-z_]*[123]d)?(_?[a-z]+)*)(_out)?$'
));
