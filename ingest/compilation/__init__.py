"""What torch.compile did: from its log, run.json and traces to tables."""
