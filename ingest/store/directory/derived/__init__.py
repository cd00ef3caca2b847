"""The index, the catalog and the empty tables, which can be written again at any time."""
