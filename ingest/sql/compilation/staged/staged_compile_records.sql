-- Records of a compile log that describe a compilation.
-- One row: a record; `what` is its name, `body` its content, `reset` the number of resets of Dynamo
-- before it.
-- Paths: body (text_without_places), stack (text_without_places)
CREATE TABLE staged_compile_records (
    source_id INTEGER,
    ordinal BIGINT,
    compile_id VARCHAR,
    attempt INTEGER,
    reset INTEGER,
    what VARCHAR,
    time_ns BIGINT,
    body VARCHAR,
    stack VARCHAR  -- the user's frames, outermost first
);
