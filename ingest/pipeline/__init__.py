"""One run from its files to its Parquet tables."""

from ingest.pipeline.run import AddOptions, write_run

__all__ = ["AddOptions", "write_run"]
