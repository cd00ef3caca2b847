-- The profiles of the run: their rank, and what their times count from.
-- One row: an input file.
CREATE TABLE staged_sources (source_id INTEGER, rank INTEGER, base_ns BIGINT);
