-- Python frames that show the position in the user's program: modules and the user's own functions.
-- One row: a frame.
SELECT lane, event_id, start_ns, end_ns
FROM complete
WHERE category = 'python_function' AND (is_module(name) OR is_user_frame(name));
