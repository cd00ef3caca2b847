-- How the phases of compilations nest.
-- One row: a phase of `nesting_phases`, with the columns of `host_nest`.
-- Filled by: nest(nesting_phases)
CREATE TABLE compile_nest (event_id BIGINT, depth INTEGER, parent_id BIGINT, self_ns BIGINT);
