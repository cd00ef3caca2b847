-- Entries of run.json, or of a rank's file, about compilations.
-- One row: a file.
-- Paths: body (text_without_places)
CREATE TABLE staged_run_json (source_id INTEGER, rank INTEGER, body JSON);
