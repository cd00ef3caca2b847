"""The pipeline that turns a run's files into Parquet tables."""

from ingest.pipeline.run import AddOptions, utc_now, write_run

__all__ = ["AddOptions", "utc_now", "write_run"]
