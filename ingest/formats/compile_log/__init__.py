"""Structured compile logs of torch (`TORCH_TRACE`): what was compiled, and why."""
