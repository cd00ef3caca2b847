"""Redaction of secrets and, if requested, of paths before a run is stored."""

from ingest.redaction.paths import redact_paths
from ingest.redaction.secrets import redact
from ingest.redaction.staged import redact_secrets

__all__ = ["redact", "redact_paths", "redact_secrets"]
