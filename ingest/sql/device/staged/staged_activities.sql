-- What the files record about device activities, in addition to the columns of `staged`.
-- One row: a device activity.
CREATE TABLE staged_activities (
    source_id INTEGER,
    event_id BIGINT,
    device BIGINT,
    stream BIGINT,
    grid BIGINT[],
    block BIGINT[],
    registers INTEGER,  -- of a thread
    shared_bytes BIGINT,  -- of a block
    occupancy_percent DOUBLE,
    bytes BIGINT,  -- moved by a copy or memset
    gb_per_s DOUBLE,
    collective VARCHAR,  -- collective operation that a kernel belongs to
    graph_id BIGINT,
    graph_node_id UBIGINT,
    graph_label VARCHAR,  -- annotation of the graph's node
    graph_module VARCHAR  -- module in that annotation
);
