"""Charts and tables. This package does not depend on runs, pages or the URL."""
