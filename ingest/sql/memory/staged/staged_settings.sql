-- Settings of the allocator in a snapshot, by name.
-- One row: an input file.
CREATE TABLE staged_settings (source_id INTEGER, settings MAP (VARCHAR, VARCHAR));
