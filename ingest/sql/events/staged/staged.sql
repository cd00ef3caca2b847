-- Events as they stand in the files, before any meaning is given to them.
-- One row: an event, or a piece of the file that is none (phase is null, and args say where it is).
--
-- An event that is complete (phase X, with a name, a time and a duration) has a side; of any other
-- one the args are its whole text.
--
-- Paths: name (frame_without_place)
CREATE TABLE staged (
    source_id INTEGER,
    event_id BIGINT,  -- unique in the run: id_in_run(source_id, number)
    phase VARCHAR,
    side VARCHAR,  -- where it ran: host, device or annotation
    category VARCHAR,  -- in today's names
    older_category VARCHAR,  -- as recorded, where that is another
    name VARCHAR,
    pid VARCHAR,
    tid VARCHAR,
    id VARCHAR,
    relative_ns BIGINT,
    dur_ns BIGINT,
    event_index BIGINT,
    correlation BIGINT,
    external_id BIGINT,
    args JSON
);
