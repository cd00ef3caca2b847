"""Execution traces of `torch.profiler.ExecutionTraceObserver`."""
