"""`capture sweep`: times, checks and profiles variants of a pipeline or a function."""
