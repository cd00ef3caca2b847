"""What charts and tables look like: drawing knows nothing of runs, pages and the address."""
