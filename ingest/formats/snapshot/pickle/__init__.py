"""A reader of pickles that knows only instructions for plain data."""
