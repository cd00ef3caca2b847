"""Memory timelines of torch.profiler's `export_memory_timeline`."""
