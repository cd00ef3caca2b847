"""Profiles as MegEngine's `load_and_run --profile` writes them."""
