-- Settings of the allocator that a snapshot holds.
-- One row: a setting.
CREATE TABLE staged_settings (source_id INTEGER, setting VARCHAR, value VARCHAR);
