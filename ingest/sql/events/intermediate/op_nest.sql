-- How operators and annotations nest on their thread when all other events are ignored.
-- One row: an operator or annotation, with the columns of `host_nest`.
-- Filled by: nest(op_spans)
CREATE TABLE op_nest (event_id BIGINT, depth INTEGER, parent_id BIGINT, self_ns BIGINT);
