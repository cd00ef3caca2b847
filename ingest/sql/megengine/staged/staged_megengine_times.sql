-- Times of the operators of MegEngine, in seconds of the clock that they were read from.
-- One row: an operator on a thread of the host, or on a comp node.
CREATE TABLE staged_megengine_times (
    source_id INTEGER,
    ordinal BIGINT,  -- of the file: number of its event
    is_device BOOLEAN,
    opr_key VARCHAR,
    place VARCHAR,  -- the thread, or the comp node
    start_s DOUBLE,
    kern_s DOUBLE,
    end_s DOUBLE
);
