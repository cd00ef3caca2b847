"""Records a body of code: traces, steps, memory and compilations."""
