-- Frames of all snapshots of the run, each distinct one once.
-- One row: a frame.
-- Paths: filename (without_place)
CREATE TABLE staged_frames (
    frame_id INTEGER, name VARCHAR, filename VARCHAR, line UBIGINT, other JSON
);
