-- How the events of the host nest on their thread.
-- One row: an event. `depth` counts the events around it, `parent_id` is the innermost of them, and
-- `self_ns` is the time in which no event inside it ran.
-- Filled by: nest(host_spans)
CREATE TABLE host_nest (event_id BIGINT, depth INTEGER, parent_id BIGINT, self_ns BIGINT);
