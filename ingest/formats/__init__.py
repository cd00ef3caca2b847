"""Input formats: one package each, which reads a file into the staged tables.

`registry` lists them. No other module names a format.
"""

from ingest.formats.format import Format, Loader
from ingest.formats.io import max_inflation, state_of
from ingest.formats.pickle.stream import max_snapshot_bytes
from ingest.formats.recognition import recognise
from ingest.formats.registry import FORMATS
from ingest.formats.source import Source, SourceWarning
from ingest.formats.staging import Progress, Staging

__all__ = [
    "FORMATS",
    "Format",
    "Loader",
    "Progress",
    "Source",
    "SourceWarning",
    "Staging",
    "max_inflation",
    "max_snapshot_bytes",
    "recognise",
    "state_of",
]
