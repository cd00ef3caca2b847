"""What must not be stored: secrets and, where it is asked for, paths."""

from ingest.redaction.paths import redact_paths
from ingest.redaction.secrets import redact
from ingest.redaction.staged import redact_secrets

__all__ = ["redact", "redact_paths", "redact_secrets"]
