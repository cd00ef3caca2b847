"""`python -m ingest.sql` derives the order of the SQL anew and writes `generated_order.json`."""

from ingest.sql.order import ORDER_FILE, derive, written

ORDER_FILE.write_text(written(derive()), encoding="utf-8")
