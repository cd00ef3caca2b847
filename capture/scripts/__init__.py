"""`capture run`: profiles any program, unmodified."""
