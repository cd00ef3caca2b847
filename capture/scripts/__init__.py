"""`capture run`: any program, unmodified."""
