-- The profiles of the run, with their rank and the base of their times.
-- One row: an input file. `ingest/inputs/ranks.py` fills it.
CREATE TABLE staged_sources (source_id INTEGER, rank INTEGER, base_ns BIGINT);
