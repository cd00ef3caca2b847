-- `formula_name(op)`: the name under which `operator_formulas` lists an operator. Names of
-- generated kernels go on with the operators that they replace: `triton_poi_fused_add_mul_0`.
CREATE MACRO formula_name(op) AS coalesce(
    nullif(regexp_extract(op, '^triton_(?:tem_fused_[a-z]+|[a-z]+_fused)'), ''), op
);
