-- The process groups that the metadata of the files lists.
-- One row: a group of an input file.
CREATE TABLE staged_process_groups (
    source_id INTEGER,
    name VARCHAR,
    description VARCHAR,
    backend VARCHAR,
    group_size BIGINT,
    ranks INTEGER[]
);
