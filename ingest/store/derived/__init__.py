"""What is made from the listing and the runs' tables: the index, the catalog, empty tables."""
