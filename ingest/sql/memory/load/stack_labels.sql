-- The user's frame and the module of each stack.
-- One row: a stack.
-- Materialised: several relations read it.
--
-- `user_frame` is the innermost frame of the user's own Python: outside of installed packages, the
-- standard library and `capture`. If there is none, it is the innermost frame of an installed
-- package other than torch, or else the innermost Python frame. If there is no
-- Python, as in autograd's threads, it is the node of the backward pass that was running, or else
-- the innermost operator, or else the innermost frame that belongs to neither the unwinder nor the
-- allocator.
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
