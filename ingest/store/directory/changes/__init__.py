"""Adding, replacing and removing runs, and finding those that the listing lacks."""
