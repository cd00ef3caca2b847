-- Times of the operators of MegEngine, in seconds of the clock that recorded them.
-- One row: an operator on a thread of the host, or on a comp node.
CREATE TABLE staged_megengine_times (
    source_id INTEGER,
    ordinal BIGINT,  -- number of its event in the file
    is_device BOOLEAN,
    opr_key VARCHAR,
    lane_name VARCHAR,  -- name of the thread or the comp node
    start_s DOUBLE,
    kern_s DOUBLE,
    end_s DOUBLE
);
