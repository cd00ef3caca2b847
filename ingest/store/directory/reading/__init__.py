"""What statements read while the store changes."""
