-- Where the events of the host are in the call tree of their thread, and in which step.
-- One row: an event. `depth` counts the events around it, `parent_id` is the innermost of them, and
-- `self_ns` is the time in which no event inside it ran. Calls are the events that torch has in its
-- tables. `path_id` stands for the names of the calls around the event and its own,
-- `caller_path_id` for the former alone, and `module_id` for the modules among them; 0 stands for
-- none. `inner_ns` is the sum of the durations of the calls directly inside the event, `repeats`
-- tells whether that is a single call of the same name, and `is_recursive` whether a call around it
-- has that name. `name_number` is of `call_names`; `step` is -1 outside of steps.
-- Filled by: nest(host_spans, step_changes, call_names)
CREATE TABLE host_nest (
    event_id BIGINT, lane UBIGINT, name_number INTEGER, step BIGINT, dur_ns BIGINT, depth INTEGER,
    parent_id BIGINT, self_ns BIGINT, path_id BIGINT, caller_path_id BIGINT, module_id BIGINT,
    inner_ns BIGINT, repeats BOOLEAN, is_recursive BOOLEAN
);
