"""CUDA memory snapshots: pickles that are read without running any code in them."""
