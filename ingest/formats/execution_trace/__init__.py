"""Execution traces as `torch.profiler.ExecutionTraceObserver` writes them."""
