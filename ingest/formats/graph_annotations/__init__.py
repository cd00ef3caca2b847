"""Annotations of the nodes of CUDA graphs, which `capture` writes beside a trace."""
