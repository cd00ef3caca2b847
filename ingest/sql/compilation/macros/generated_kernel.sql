-- `generated_kernel(name)`: the kernel of compiled code that the name of a trace event contains:
-- `cpp_fused_silu_1` for `graph_0_cpp_fused_silu_1`.
CREATE MACRO generated_kernel(name) AS regexp_replace(name, '^graph_[0-9]+_', '');
