"""Comparison of two runs, of two groups of runs, or of the variants of a sweep."""
