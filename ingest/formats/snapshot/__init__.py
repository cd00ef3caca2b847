"""CUDA memory snapshots: pickles, read without running any code in them."""
