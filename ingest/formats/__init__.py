"""Input formats: one module each, turning a file into Arrow batches and metadata, nothing else."""
