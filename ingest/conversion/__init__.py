"""Conversion of the files of a run to Parquet tables."""

from ingest.conversion.run import AddOptions, stage_run, utc_now, write_run

__all__ = ["AddOptions", "stage_run", "utc_now", "write_run"]
