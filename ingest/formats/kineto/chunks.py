"""Cutting of JSON text between objects, by vectorised byte comparison and without copies."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.arrow import arrow_of

LONG_PIECE = 1 << 20  # DuckDB parses many pieces at a time; longer ones are parsed one by one
MAX_STEPS = 64  # of one byte, to skip white space
OPEN, CLOSE, COMMA, SPACE = b"{"[0], b"}"[0], b","[0], b" "[0]
BACKSLASH, QUOTE = b"\\"[0], b'"'[0]

PIECE_SCHEMA = pa.schema(
    [
        ("ordinal", pa.int64()),
        ("from_byte", pa.int64()),
        ("to_byte", pa.int64()),
        ("event", pa.string_view()),
    ]
)

Piece = tuple[int, int, int, str]  # ordinal, start and end in the file, text
Positions = npt.NDArray[np.int64]


def cuts(buffer: bytes) -> tuple[Positions, Positions]:
    """Return the end of each `}` before a comma and a `{`, and the start of that `{`."""
    text = np.frombuffer(buffer, np.uint8)
    closings = np.flatnonzero(text == CLOSE)
    after = _skip_space(text, closings + 1)
    followed = text[after] == COMMA
    closings, after = closings[followed], after[followed]
    following = _skip_space(text, after + 1)
    cut = (text[following] == OPEN) & (following > after)
    return closings[cut] + 1, following[cut]


def with_backslash(buffer: bytes, ends: Positions) -> int:
    """Return the number of pieces, which end at `ends`, with a backslash not before a quote."""
    if b"\\" not in buffer:
        return 0
    text = np.frombuffer(buffer, np.uint8)
    found = np.flatnonzero((text[:-1] == BACKSLASH) & (text[1:] != QUOTE))
    return len(np.setdiff1d(np.searchsorted(ends, found, "right"), len(ends)))


def batch(
    buffer: bytes, starts: Positions, ends: Positions, offset: int, first: int
) -> pa.RecordBatch:
    """Return slices of `buffer` as pieces numbered from `first`.

    `offset`: the position of `buffer` in the file. The text of a long piece is left empty.
    """
    text_ends = np.where(ends - starts > LONG_PIECE, starts, ends)
    return pa.record_batch(
        [
            arrow_of(np.arange(first, first + len(starts))),
            arrow_of(starts + offset),
            arrow_of(ends + offset),
            _string_views(buffer, starts, text_ends),
        ],
        schema=PIECE_SCHEMA,
    )


def batch_of(*pieces: Piece) -> pa.RecordBatch:
    """Return a batch of these pieces."""
    *numbers, texts = zip(*pieces, strict=True)
    encoded = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, encoded)])
    buffer = b"".join(encoded) or b" "  # `_string_views` reads at least one byte
    views = _string_views(buffer, bounds[:-1], bounds[1:])
    return pa.record_batch([*(arrow_of(np.array(n)) for n in numbers), views], schema=PIECE_SCHEMA)


def _skip_space(text: npt.NDArray[np.uint8], positions: Positions) -> Positions:
    """Move each position to the next byte that is not white space, at most to the last byte."""
    last = len(text) - 1
    positions = np.minimum(positions, last)
    pending = np.flatnonzero(text[positions] <= SPACE)
    for _ in range(MAX_STEPS):
        if not len(pending):
            return positions
        positions[pending] = np.minimum(positions[pending] + 1, last)
        pending = pending[(text[positions[pending]] <= SPACE) & (positions[pending] < last)]
    if len(pending):  # more white space than any indentation
        solid = np.append(np.flatnonzero(text > SPACE), last)
        following = np.searchsorted(solid, positions[pending])
        positions[pending] = solid[np.minimum(following, len(solid) - 1)]
    return positions


def _string_views(buffer: bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Return Arrow string views of the slices: length, first four bytes, buffer, position."""
    text = np.frombuffer(buffer, np.uint8)
    views = np.zeros((len(starts), 4), np.int32)
    views[:, 0] = ends - starts
    first_bytes = text[np.minimum(starts[:, None] + np.arange(4), len(text) - 1)]
    views[:, 1] = first_bytes.view(np.int32)[:, 0]
    views[:, 3] = starts
    for row in np.flatnonzero(ends - starts <= 12):  # a view contains a text of up to 12 bytes
        content = buffer[starts[row] : ends[row]].ljust(12, b"\0")
        views[row, 1:] = np.frombuffer(content, np.int32)
    buffers = [None, pa.py_buffer(views), pa.py_buffer(buffer)]
    return pa.Array.from_buffers(pa.string_view(), len(starts), buffers)
