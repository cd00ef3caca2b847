"""`python -m ingest.sql` derives the order of the SQL anew and writes `generated_order.json`."""

from ingest.sql.order import ORDER_FILE, derive, written
from ingest.sql.versions import derive_logic

ORDER_FILE.write_text(written(derive(), derive_logic()), encoding="utf-8")
