"""One run from its files to its Parquet tables."""
