"""Torch's structured compile logs (`TORCH_TRACE`): what was compiled, and why."""
