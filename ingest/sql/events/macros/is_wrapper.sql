-- `is_wrapper(name)`: whether an operator or annotation only wraps others, as those of torch and
-- the marks of `capture` do.
CREATE MACRO is_wrapper(name) AS regexp_matches(name, concat(
    '^(Torch-Compiled Region|CompiledFunction|CompiledFxGraph|## Call CompiledFxGraph|',
    'TorchDynamo |autograd::engine::evaluate_function|ProfilerStep)'
)) OR stage_mark(name) IS NOT NULL;
