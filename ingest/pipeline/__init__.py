"""One run from its files to its Parquet tables."""

from ingest.pipeline.run import AddOptions, utc_now, write_run

__all__ = ["AddOptions", "utc_now", "write_run"]
