-- The profiles of the run, with their rank, the base of their times, and their host.
-- One row: an input file. `ingest/inputs/ranks.py` fills it.
CREATE TABLE staged_sources (source_id INTEGER, rank INTEGER, base_ns BIGINT, host_name VARCHAR);
