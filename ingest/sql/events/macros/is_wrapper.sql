-- `is_wrapper(name)`: whether an operator or annotation only wraps others, like some of torch's own
-- and the marks of `capture`.
CREATE MACRO is_wrapper(name) AS regexp_matches(name, concat(
    '^(Torch-Compiled Region|CompiledFunction|CompiledFxGraph|## Call CompiledFxGraph|',
    'TorchDynamo |autograd::engine::evaluate_function|ProfilerStep)'
)) OR stage_mark(name) IS NOT NULL;
