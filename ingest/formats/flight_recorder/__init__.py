"""Dumps of torch's flight recorder: the last collectives of a rank, as a pickle or as JSON."""
