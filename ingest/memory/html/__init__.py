"""A run's memory as one file that a browser opens by itself: a page, or flame graphs."""
