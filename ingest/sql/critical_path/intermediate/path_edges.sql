-- The critical path of each step: what the step waited for, from its start to its end. The
-- intervals follow each other without a gap.
-- One row: an interval of the path. `event_id` is the span or activity that the interval is part
-- of, or null for the host's time between operators. `op_id` is the innermost operator around a
-- span.
-- Filled by: find_paths(path_steps, path_spans, path_activities, path_syncs)
CREATE TABLE path_edges (
    path BIGINT, ordinal BIGINT, kind VARCHAR, event_id BIGINT, op_id BIGINT, start_ns BIGINT,
    dur_ns BIGINT
);
