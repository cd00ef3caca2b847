-- The user's frame and the module of each stack.
-- One row: a stack.
-- Materialised: several relations read it.
--
-- `user_frame` is the first of these that the stack has, and of several the innermost:
-- 1. a line of the user's Python: outside of packages, the standard library and `capture`
-- 2. a line of an installed package other than torch
-- 3. any line of Python
-- 4. a node of a backward pass, as in autograd's threads, which have no Python
-- 5. an operator
-- 6. a frame outside of the unwinder and the allocator
WITH
placed AS (
    SELECT stack_id, unnest(frame_ids) AS frame_id, generate_subscripts(frame_ids, 1) AS position
    FROM staged_stacks
),

called AS (
    SELECT
        placed.stack_id,
        placed.position,
        frame.*,
        concat(frame.basename, ':' || frame.line, ' ', frame.function) AS label,
        -- `_call_impl`, the next Python frame outwards, calls a module's own code.
        lead(frame.function) OVER outwards = '_call_impl' AND frame.is_python AS is_forward,
        CASE WHEN NOT frame.is_python THEN nullif(regexp_extract(
            frame.function,
            '^torch::autograd::generated::(\w+Backward\w*?)(_apply_functional|::)',
            1
        ), '') END AS node,
        CASE WHEN NOT frame.is_python THEN nullif(regexp_extract(
            frame.function, '^at::_ops::(\w+)::(call|redispatch)\(', 1
        ), '') END AS operator
    FROM placed
    INNER JOIN code_frames AS frame USING (frame_id)
    WINDOW outwards AS (
        PARTITION BY placed.stack_id, frame.is_python, frame.is_hook ORDER BY placed.position
    )
)

SELECT
    stack_id,
    coalesce(
        arg_min(label, position) FILTER (WHERE is_python AND NOT is_library),
        arg_min(label, position) FILTER (WHERE is_python AND is_package),
        arg_min(label, position) FILTER (WHERE is_python),
        arg_min('autograd ' || node, position),
        arg_min('operator ' || operator, position),
        arg_min(label, position) FILTER (
            WHERE NOT regexp_matches(function, concat(
                '^torch::(unwind|Capture)|gather_with_cpp|CachingAllocator|^at::detail::empty_|',
                '^(unwind::unwind|CapturedTraceback::)'
            ))
        ),
        arg_min(label, position)
    ) AS user_frame,
    arg_min(
        CASE
            WHEN module_path <> '' THEN replace(module_path, '/', '.')
            ELSE concat(basename, ' ', function)
        END, position
    ) FILTER (WHERE is_forward) AS module
FROM called
GROUP BY stack_id;
