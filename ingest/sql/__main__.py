"""`python -m ingest.sql`: derive the order of the SQL files and write `generated_order.json`."""

from ingest.sql.order import ORDER_FILE, as_json, derive
from ingest.sql.versions import derive_logic

ORDER_FILE.write_text(as_json(derive(), derive_logic()), encoding="utf-8")
