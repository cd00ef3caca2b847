"""The pipeline that turns a run's files into Parquet tables."""

from ingest.conversion.run import AddOptions, stage_run, utc_now, write_run

__all__ = ["AddOptions", "stage_run", "utc_now", "write_run"]
