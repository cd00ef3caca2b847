-- `is_wrapper(name)`: whether an operator or annotation only wraps others, for example some
-- annotations of torch and the labels of `capture`.
CREATE MACRO is_wrapper(name) AS regexp_matches(name, concat(
    '^(Torch-Compiled Region|CompiledFunction|CompiledFxGraph|## Call CompiledFxGraph|',
    'TorchDynamo |autograd::engine::evaluate_function|ProfilerStep)'
)) OR stage_mark(name) IS NOT NULL;
