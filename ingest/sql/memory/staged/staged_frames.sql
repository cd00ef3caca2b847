-- Frames of all snapshots of the run, each distinct one once.
-- One row: a frame.
CREATE TABLE staged_frames (
    frame_id INTEGER, name VARCHAR, filename VARCHAR, line UBIGINT, other JSON
);
