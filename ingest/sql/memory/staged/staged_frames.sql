-- Frames of the snapshots and flight recorder dumps of the run. Each distinct frame is stored once,
-- with the first file that contains it.
-- One row: a frame.
-- Paths: filename (without_place)
CREATE TABLE staged_frames (
    source_id INTEGER, frame_id INTEGER, name VARCHAR, filename VARCHAR, line UBIGINT, other JSON
);
