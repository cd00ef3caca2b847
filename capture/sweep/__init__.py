"""`capture sweep`: variants of a pipeline or a function, timed, checked and profiled."""
