-- Comp nodes of MegEngine, with the shift to add to their times so that no operator starts before
-- the host dispatched it.
-- One row: a comp node.
CREATE TABLE staged_megengine_comp_nodes (
    source_id INTEGER, comp_node VARCHAR, device BIGINT, stream BIGINT, clock_shift_ns BIGINT
);
