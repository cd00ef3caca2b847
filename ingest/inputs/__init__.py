"""A run as it lies on disk: its directory, its files, their ranks, and what run.json says."""
