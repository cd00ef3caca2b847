"""Loading of annotations of graph nodes into the scratch database."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.io import blocks
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging
from ingest.units import as_utf8, counted

LONGEST = 256 << 20  # bytes of JSON
LONGEST_ID = 30  # digits
LABELS = ("name", "str", "annotation")  # keys of an annotation's text, by torch's version
SCHEMA = pa.schema(
    [
        ("source_id", pa.int32()),
        ("graph_node_id", pa.uint64()),
        ("label", pa.string()),
        ("module", pa.string()),
    ]
)


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read annotations into table `staged_graph_annotations`, and count the nodes.

    The file has the annotations of torch's `get_kernel_annotations()`: lists by graph node id. If
    several annotations of a node have a key, the first one counts, as in torch. Values that are not
    text are left out. Raise ProfileError if the file is damaged.
    """
    text = bytearray()
    with source.path.open("rb") as file:
        try:
            for block in blocks(file):
                text += block
                progress(file.tell())
                if len(text) > LONGEST:
                    raise ProfileError(f"{source.path}: longer than {LONGEST:,} bytes of JSON")
        except (EOFError, OSError) as error:
            raise ProfileError(f"{source.path}: {error}") from error
    try:
        document = json.loads(text)
        nodes = document.pop("graph_node_annotations").items()
    except (ValueError, RecursionError, AttributeError) as error:
        raise ProfileError(f"{source.path}: not valid JSON: {error}") from error
    rows = list(_rows(nodes))
    table = pa.Table.from_pylist(
        [{"source_id": source.source_id, **row} for row in rows], schema=SCHEMA
    )
    staging.insert("staged_graph_annotations", table)
    source.metadata, source.json_bytes, source.events = document, len(text), len(nodes)
    if unread := len(nodes) - len(rows):
        source.dropped = {"damaged annotation": unread}
        source.warn("annotations_unread", f"{counted(unread, 'annotation')} could not be read")


def _rows(nodes: Any) -> Iterator[dict[str, Any]]:
    for node, annotations in nodes:
        is_id = node.isdecimal() and len(node) < LONGEST_ID and int(node) < 1 << 64
        if not is_id or not isinstance(annotations, list):
            continue
        merged: dict[str, str] = {}
        for annotation in annotations:
            values = annotation if isinstance(annotation, dict) else {"name": annotation}
            texts = {key: as_utf8(text) for key, text in values.items() if isinstance(text, str)}
            merged = texts | merged
        label = next((merged[key] for key in LABELS if key in merged), None)
        module = merged.get("module_fqn")
        yield {"graph_node_id": int(node), "label": label, "module": module}
