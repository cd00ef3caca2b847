"""Comparing runs: figures side by side, what they are made of, and conditions on them."""
