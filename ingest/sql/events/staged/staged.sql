-- Events as recorded in the files, before interpretation. What else a file records about calls and
-- device activities is in `staged_calls` and `staged_activities`, and the rest is in the args.
-- One row: an event, or a piece of the file that is not an event (phase is null, and args hold its
-- position).
--
-- A complete event (phase X, with a name, a time and a duration) has a side. The args of any other
-- event are its entire text.
--
-- Paths: name (frame_without_place)
CREATE TABLE staged (
    source_id INTEGER,
    event_id BIGINT,  -- unique in the run: id_in_run(source_id, number)
    phase VARCHAR,
    side VARCHAR,  -- where it ran: host, device or annotation
    category VARCHAR,  -- in current names
    older_category VARCHAR,  -- as recorded, if that differs
    name VARCHAR,
    pid VARCHAR,
    tid VARCHAR,
    id VARCHAR,
    relative_ns BIGINT,
    dur_ns BIGINT,
    event_index BIGINT,
    correlation BIGINT,  -- shared by a call and the activities that it launched, in a process
    external_id BIGINT,  -- shared by an operator and the activities launched in it, in a process
    args JSON
);
