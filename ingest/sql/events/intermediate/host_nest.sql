-- The position of host events in the call tree of their thread, and their step.
-- One row: an event. `depth` counts the events around it, `parent_id` is the innermost of them, and
-- `self_ns` is the time in which no event inside it ran. Calls are the events that torch has in its
-- tables. `path_id` identifies the names of the calls around the event and its own name,
-- `caller_path_id` those around it only, and `module_id` the modules among them; 0 means that there
-- is none. `inner_ns` is the sum of the durations of the calls directly inside the event. `repeats`
-- is whether that is a single call of the same name, and `is_recursive` whether a call around it
-- has the same name. `name_number` refers to `call_names`; `step` is -1 outside of steps.
-- Filled by: nest(host_spans, step_changes, call_names)
CREATE TABLE host_nest (
    event_id BIGINT, lane UBIGINT, name_number INTEGER, step BIGINT, dur_ns BIGINT, depth INTEGER,
    parent_id BIGINT, self_ns BIGINT, path_id BIGINT, caller_path_id BIGINT, module_id BIGINT,
    inner_ns BIGINT, repeats BOOLEAN, is_recursive BOOLEAN
);
