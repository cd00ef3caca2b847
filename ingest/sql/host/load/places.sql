-- Python frames that say where in the user's program something ran: modules and the user's frames.
-- One row: a frame.
SELECT lane, event_id, start_ns, end_ns
FROM complete
WHERE category = 'python_function' AND (is_module(name) OR is_user_frame(name));
