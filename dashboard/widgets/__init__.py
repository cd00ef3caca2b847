"""What pages are made of: charts, tables, timelines, notices, and how numbers are written."""
