"""What must not be stored: secrets and, where it is asked for, paths."""
