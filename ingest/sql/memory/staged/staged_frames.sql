-- Frames of all snapshots of the run, each distinct one once, with the first file that has it.
-- One row: a frame.
-- Paths: filename (without_place)
CREATE TABLE staged_frames (
    source_id INTEGER, frame_id INTEGER, name VARCHAR, filename VARCHAR, line UBIGINT, other JSON
);
