"""Traces as torch.profiler (Kineto) writes them, whole or damaged."""
