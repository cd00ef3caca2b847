-- Part of `memory_flames` and `memory_stacks_at`: stacks in memory snapshots as lists of frames.
-- One row: a stack.
--
-- run_id
-- stack_id  the stack (`stacks.stack_id`)
-- python    `file:line:function` of each Python frame, outermost first; null if there is none
-- frames    `file:line:function` of each frame, outermost first, without those of the unwinder and
--           the interpreter; null if there is none
WITH placed AS (
    SELECT
        run_id,
        stack_id,
        unnest(frame_ids) AS frame_id,
        generate_subscripts(frame_ids, 1) AS position
    FROM stacks
)

SELECT
    placed.run_id,
    placed.stack_id,
    list(
        concat_ws(
            ':', regexp_extract(frames.filename, '[^/\\]*$'), frames.line, frames.function
        ) ORDER BY placed.position DESC
    ) FILTER (frames.is_python) AS python,
    list(
        concat_ws(
            ':', regexp_extract(frames.filename, '[^/\\]*$'), frames.line, frames.function
        ) ORDER BY placed.position DESC
    ) FILTER (  -- as torch does
        WHERE NOT regexp_matches(frames.function, concat(
            'unwind::unwind|CapturedTraceback::gather|gather_with_cpp|_start|',
            '__libc_start_main|PyEval_|PyObject_|PyFunction_'
        ))
        AND NOT regexp_matches(frames.filename, concat(
            'core/boxing|/Register|/Redispatch|pythonrun\.c|Modules/main\.c|Objects/call\.c|',
            'Objects/methodobject\.c|pycore_ceval\.h|ceval\.c|cpython/abstract\.h'
        ))
    ) AS frames
FROM placed
INNER JOIN frames ON placed.run_id = frames.run_id AND placed.frame_id = frames.frame_id
GROUP BY placed.run_id, placed.stack_id;
