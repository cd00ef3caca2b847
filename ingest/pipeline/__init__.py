"""One run from its files to its Parquet tables."""

from ingest.pipeline.run import RunLabels, write_run

__all__ = ["RunLabels", "write_run"]
