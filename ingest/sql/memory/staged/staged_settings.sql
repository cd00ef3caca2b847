-- Settings of the allocator that a snapshot holds, by their names.
-- One row: an input file.
CREATE TABLE staged_settings (source_id INTEGER, settings MAP (VARCHAR, VARCHAR));
