"""Torch's structured compile logs, and what run.json says of compilations."""
