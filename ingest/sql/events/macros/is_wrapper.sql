-- `is_wrapper(name)`: whether an operator only wraps others.
CREATE MACRO is_wrapper(name) AS regexp_matches(name, concat(
    '^(Torch-Compiled Region|CompiledFunction|CompiledFxGraph|## Call CompiledFxGraph|',
    'TorchDynamo |autograd::engine::evaluate_function|ProfilerStep)'
));
