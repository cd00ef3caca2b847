"""What must not be stored: secrets and, where it is asked for, paths."""

from ingest.redaction.paths import redact_paths
from ingest.redaction.secrets import IN_NAME, SUSPECT, redact, redact_json, redact_text

__all__ = ["IN_NAME", "SUSPECT", "redact", "redact_json", "redact_paths", "redact_text"]
