"""Memory timelines as `export_memory_timeline` writes them."""
