-- Python frames that show the position in the user's program: modules and the user's own functions.
-- One row: a frame, with `nesting_order` as in `cpu_ops`.
WITH names AS (  -- few, so that each is classified only once
    SELECT name, is_module(name) AS is_module
    FROM call_names
    WHERE category = 'python_function' AND (is_module(name) OR is_user_frame(name))
)

SELECT
    frame.lane,
    frame.event_id,
    frame.name,
    names.is_module,
    frame.start_ns,
    frame.end_ns,
    row_number() OVER (
        ORDER BY frame.start_ns, frame.end_ns DESC, frame.event_index, frame.event_id
    ) AS nesting_order
FROM complete AS frame
INNER JOIN names USING (name)
WHERE frame.category = 'python_function';
