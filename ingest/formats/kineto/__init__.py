"""Traces of torch.profiler (Kineto), intact or damaged."""
