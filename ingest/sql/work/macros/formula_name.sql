-- `formula_name(op)`: the name under which `operator_formulas` lists an operator. Names of
-- generated kernels go on with the operators that they replace: `triton_poi_fused_add_mul_0`.
CREATE MACRO formula_name(op) AS coalesce(
    nullif(
        regexp_extract(
            generated_kernel(op), '^(triton_tem_fused_[a-z]+|triton_[a-z]+_fused|cpp_fused)', 1
        ),
        ''
    ),
    op
);
