"""A run's memory as a self-contained file for a browser: a page, or a flame graph."""
