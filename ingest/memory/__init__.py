"""Memory of devices: its owners at a moment, and files for a browser."""
