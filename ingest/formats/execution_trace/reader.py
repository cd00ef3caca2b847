"""Reading of execution traces: JSON objects with a list of nodes, one for each operator."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.io import blocks
from ingest.formats.json_text import keys_before, leading_keys, without_lone_surrogates

LONGEST = 2 << 30  # bytes of JSON
BATCH = 20_000  # nodes
WINDOW = 1 << 20  # characters; few nodes are longer
NODES = re.compile(r'"nodes"\s*:\s*\[')
FIRST_KEY = re.compile(r'\{\s*"(\w+)"\s*:')
BETWEEN = re.compile(r"[\s,]*")
END = re.compile(r"\s*[,\]]")
# torch does not escape the names of annotations.
NAME = re.compile(r'("name"\s*:\s*)"(.*?)"(\s*,\s*"ctrl_deps"\s*:\s*\d)', re.DOTALL)
DECODER = json.JSONDecoder(strict=False)
NUMBERS = ("seq_id", "scope", "tid", "fw_tid", "fw_parent")
TEXTS = ("op_schema", "kernel_backend", "kernel_file")
SIDES = ("inputs", "outputs")
ASPECTS = ("values", "shapes", "types", "strides")
SCHEMA = pa.schema(
    [
        *((name, pa.int64()) for name in ("node_id", "ctrl_deps", "rf_id", *NUMBERS)),
        *((name, pa.string()) for name in ("name", *TEXTS)),
        *((f"{side}_{aspect}", pa.string()) for side in SIDES for aspect in ASPECTS),
    ]
)


@dataclass
class ExecutionTrace:
    """Reader of an execution trace. The attributes are complete after `batches()`.

    `metadata`: the keys of the file around the nodes. `json_bytes`: size of the decompressed file.
    `nodes`: number of nodes read. `unread`: number of damaged nodes. `fault`: why the file ends
    early; empty if it is complete.
    """

    path: Path
    progress: Callable[[int], None] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    json_bytes: int = 0
    nodes: int = 0
    unread: int = 0
    fault: str = ""

    def batches(self) -> Iterator[pa.Table]:
        """Yield the nodes in file order, with the columns of `SCHEMA`.

        Raise ProfileError if the file holds no nodes, or more than 2 GiB of JSON.
        """
        text = self._text()
        first = NODES.search(text)
        if not first:
            raise ProfileError(f"{self.path}: no nodes: not an execution trace")
        self.metadata = keys_before(text[: first.start()]).found
        rows: list[dict[str, Any]] = []
        for node in self._nodes(text, first.end()):
            if node is None:
                self.unread += 1
            else:
                self.nodes += 1
                rows.append(node)
            if len(rows) == BATCH:
                yield pa.Table.from_pylist(rows, SCHEMA)
                rows.clear()
        yield pa.Table.from_pylist(rows, SCHEMA)

    def _nodes(self, text: str, position: int) -> Iterator[dict[str, Any] | None]:
        """Yield the columns of the nodes from `position`, and None for each damaged node.

        All nodes of a file begin with the same key. After damage, the next node begins there.
        """
        first = FIRST_KEY.match(text, _after_blanks(text, position))
        start = re.compile(rf'\{{\s*"{first[1] if first else "id"}"\s*:')
        is_last = False
        while (position := _after_blanks(text, position)) < len(text):
            if text[position] == "]":
                self.metadata |= leading_keys(text[position + 1 :]).found
                return
            following = None if is_last else start.search(text, position + 1)
            is_last = following is None
            end = following.start() if following else len(text)
            node, position = _node(text, position, end)
            if node is None and position == len(text):
                break
            yield node
        self.fault = self.fault or f"the file ends in node {self.nodes + self.unread:,}"

    def _text(self) -> str:
        content = bytearray()
        with self.path.open("rb") as file:
            try:
                for block in blocks(file):
                    content += block
                    if self.progress:
                        self.progress(file.tell())
                    if len(content) > LONGEST:
                        raise ProfileError(f"{self.path}: longer than {LONGEST:,} bytes of JSON")
            except (EOFError, OSError) as error:
                self.fault = str(error)
        self.json_bytes = len(content)
        return without_lone_surrogates(content.decode("utf-8", "replace"))


def _after_blanks(text: str, position: int) -> int:
    """Return the first position that is neither white space nor a comma."""
    blanks = BETWEEN.match(text, position)
    return blanks.end() if blanks else position


def _node(text: str, start: int, end: int) -> tuple[dict[str, Any] | None, int]:
    """Return the columns of the node at `start`, or None if it is damaged, and where it ends.

    `end`: where the next node begins, if this one is damaged.
    """
    piece = text[start:end]
    repaired = NAME.sub(lambda m: f"{m[1]}{json.dumps(m[2])}{m[3]}", piece[:WINDOW], count=1)
    # A key of a node may also be the first one of an object inside it.
    for tried in (piece, repaired, text[start : start + WINDOW]):
        try:
            node, length = DECODER.raw_decode(tried)
        except (ValueError, RecursionError):
            continue
        after = start + length + (len(piece) - len(repaired) if tried is repaired else 0)
        if END.match(text, after):
            return _columns(node), after
    return None, end


def _columns(node: Any) -> dict[str, Any] | None:
    """Return the columns of a node of any schema, or None if it is not a node.

    Up to schema 1.0.1, a node has no list `attrs`, and its inputs and outputs are lists.
    """
    try:
        attributes = node
        if "attrs" in node:
            attributes = {each["name"]: each.get("value") for each in node["attrs"]}
        sides = {side: _side(node, side) for side in SIDES}
        return {
            "node_id": _number(node["id"]),
            "ctrl_deps": _number(node.get("ctrl_deps", node.get("parent"))),
            "rf_id": _number(attributes.get("rf_id")),
            **{name: _number(attributes.get(name)) for name in NUMBERS},
            "name": str(node["name"]),
            **{name: str(attributes.get(name) or "") or None for name in TEXTS},
            **{
                f"{side}_{aspect}": json.dumps(values.get(aspect))
                for side, values in sides.items()
                for aspect in ASPECTS
            },
        }
    except (KeyError, TypeError, AttributeError):
        return None


def _side(node: Any, side: str) -> dict[str, Any]:
    """Return the values of the inputs or outputs, and their aspects."""
    values = node.get(side)
    if isinstance(values, list):
        of_all = side.removesuffix("s")
        return {"values": values, **{name: node.get(f"{of_all}_{name}") for name in ASPECTS[1:]}}
    return values or {}


def _number(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < 1 << 63 else None
