-- `is_in_torch_stack(name)`: whether torch's stacks contain a Python frame. They leave out the
-- frames of `backward` and those of torch's tests.
CREATE MACRO is_in_torch_stack(name) AS NOT (
    (
        contains(name, 'autograd/__init__')
        AND (contains(name, '_make_grads') OR contains(name, 'backward'))
    )
    OR (contains(name, 'torch/tensor') AND contains(name, 'backward'))
    OR (
        contains(name, '_internal/common_utils')
        AND regexp_matches(name, 'prof_callable|prof_func_call|prof_meth_call')
    )
);
