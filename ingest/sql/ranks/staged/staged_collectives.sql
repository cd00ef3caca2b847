-- What the files record about collectives and point-to-point calls.
-- One row: a kernel, or a call of the host (`record_param_comms`), that names its collective.
CREATE TABLE staged_collectives (
    source_id INTEGER,
    event_id BIGINT,
    collective VARCHAR,  -- its name as recorded
    group_name VARCHAR,
    group_description VARCHAR,
    group_size BIGINT,
    group_ranks INTEGER[],  -- null if the list is cut; then the next two may describe it
    first_rank INTEGER,
    rank_stride INTEGER,
    seq BIGINT,  -- number of the collective in its group; of point-to-point calls, of the rank
    dtype VARCHAR,
    in_elements BIGINT,
    out_elements BIGINT,
    in_splits BIGINT[],  -- elements for each rank; empty if all get the same
    out_splits BIGINT[],
    root_rank INTEGER,  -- in the group, of collectives with a root
    source_rank INTEGER,  -- in the job, of point-to-point calls
    target_rank INTEGER
);
