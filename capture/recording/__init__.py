"""Recording a body of code: traces, steps, memory, compilations."""
