"""A reader of pickles that supports only opcodes for plain data."""
