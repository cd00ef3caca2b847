"""`python -m ingest.sql`: derive the order of the SQL files and write `generated_order.json`."""

from ingest.sql.order import ORDER_FILE
from ingest.sql.versions import derive_file

ORDER_FILE.write_text(derive_file(), encoding="utf-8")
