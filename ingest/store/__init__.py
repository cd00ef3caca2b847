"""The store: a directory of runs that any number of processes add to, remove from and read."""
