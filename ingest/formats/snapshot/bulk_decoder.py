"""Decoding of the opcodes of events at many positions of a pickle at a time.

Each method takes the positions where it begins and returns those where it ends. A position is -1 if
the bytes there do not match, or did not match in an earlier step. Numbers, references and memoized
values are the same as in `machine.py`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.formats.pickle import opcodes as opcodes

MISFIT = -1
ABSENT = np.iinfo(np.int64).min  # represents a missing value
MARGIN = 16  # bytes that a step may read after its position
MAX_REFERENCES = 1000  # per batch of a list; a pickler then starts a new batch

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

WIDTHS = np.zeros(256, np.int64)  # bytes of an integer's value, except for LONG1
WIDTHS[[opcodes.BININT1, opcodes.BININT2, opcodes.BININT]] = 1, 2, 4
REFERENCE_SIZES = np.zeros(256, np.int64)
REFERENCE_SIZES[[opcodes.BINGET, opcodes.LONG_BINGET]] = 2, 5


class Values(NamedTuple):
    """The result of a step: `numbers`, and the positions where it `ends`.

    The number of a text, list or pool is its number in the memo if it is a reference. Otherwise it
    is -1 minus the position of its content. `kept`: 1 if the value is added to the memo, else 0.
    `more`: the end of a list's references, or the second number of a pool.
    """

    numbers: Integers
    ends: Integers
    kept: Integers
    more: Integers


class BulkDecoder:
    """A decoder of the loaded bytes of a pickle."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 2 * MARGIN:
            data += bytes(2 * MARGIN)
        self._bytes = np.frombuffer(data, np.uint8)
        # One word of eight bytes at each position.
        self._words = np.ndarray(len(data) - 7, np.dtype("<u8"), data, strides=(1,))
        self._limit = len(data) - MARGIN

    def words(self, positions: Integers) -> npt.NDArray[np.uint64]:
        """Return the eight bytes at each position."""
        words: npt.NDArray[np.uint64] = self._words[positions]
        return words

    def find(self, content: bytes, start: int) -> Integers:
        """Return the positions from `start` of these bytes, at most eight."""
        positions = np.flatnonzero(self._bytes[start : self._limit] == content[0]) + start
        return positions[self._are(positions, content)]

    def over(self, positions: Integers, content: bytes) -> Integers:
        """Skip exactly these bytes, at most eight."""
        return self._ends(positions, self._are(positions, content), len(content))

    def integers(self, positions: Integers) -> Values:
        """Read integers of at most eight bytes."""
        words = self._words[positions]
        codes = self._bytes[positions]
        is_long = codes == opcodes.LONG1
        widths = np.where(is_long, self._bytes[positions + 1], WIDTHS[codes])
        fits = (widths >= 1) & (widths <= 8)
        shift = (64 - 8 * np.clip(widths, 1, 8)).astype(np.uint64)
        shifted = np.where(is_long, self._words[positions + 2], words >> np.uint64(8)) << shift
        is_signed = is_long | (codes == opcodes.BININT)
        numbers = np.where(
            is_signed,
            shifted.view(np.int64) >> shift.view(np.int64),
            (shifted >> shift).view(np.int64),
        )
        fits &= numbers != ABSENT
        none = np.zeros_like(numbers)
        return Values(numbers, self._ends(positions, fits, 1 + is_long + widths), none, none)

    def texts(self, positions: Integers) -> Values:
        """Read references, or strings of at most 255 bytes."""
        numbers, sizes = self.references(positions)
        is_fresh = self._bytes[positions] == opcodes.SHORT_TEXT
        numbers[is_fresh] = -2 - positions[is_fresh]
        sizes[is_fresh] = 2 + self._bytes[positions[is_fresh] + 1]
        ends = self._ends(positions, sizes > 0, sizes)
        return Values(numbers, *self._kept(ends, is_fresh), np.zeros_like(numbers))

    def pools(self, positions: Integers) -> Values:
        """Read references, or pairs of integers. The number of a pair is -1 minus its first."""
        numbers, sizes = self.references(positions)
        ends = self._ends(positions, sizes > 0, sizes)
        first = self.integers(positions)
        second = self.integers(first.ends)
        made = self.over(second.ends, bytes([opcodes.TUPLE2]))
        pairs = np.stack([first.numbers, second.numbers])
        is_fresh = (made >= 0) & ((pairs >= 0) & (pairs < 2**31)).all(axis=0)
        numbers = np.where(is_fresh, -1 - first.numbers, numbers)
        ends = np.where(is_fresh, made, ends)
        return Values(numbers, *self._kept(ends, is_fresh), second.numbers)

    def lists(self, positions: Integers) -> Values:
        """Read references, or lists of references: empty, with a single one, or with a batch."""
        numbers, sizes = self.references(positions)
        ends = self._ends(positions, sizes > 0, sizes)
        stops = np.zeros_like(positions)
        is_fresh = (self._bytes[positions] == opcodes.EMPTY_LIST) & (positions >= 0)
        fresh = np.flatnonzero(is_fresh)
        starts, kept = self._kept(self._ends(positions, is_fresh, 1), is_fresh)
        at = starts[fresh]
        # A batch begins with MARK. A single reference is followed by APPEND.
        is_batch = self._bytes[at] == opcodes.MARK
        single = REFERENCE_SIZES[self._bytes[at]]
        is_single = (single > 0) & (self._bytes[at + single] == opcodes.APPEND)
        begins = at + is_batch
        stop = np.where(is_single, at + single, at)
        batches = np.flatnonzero(is_batch & (at >= 0))
        stop[batches] = self._stops(begins[batches])
        fits = (at >= 0) & (stop >= 0)
        numbers[fresh] = -1 - begins
        stops[fresh] = stop
        ends[fresh] = self._ends(stop, fits, is_batch | is_single)
        return Values(numbers, ends, kept, stops)

    def _stops(self, positions: Integers) -> Integers:
        """Return the position of the APPENDS after each run of references."""
        stops = np.full(len(positions), MISFIT, np.int64)
        rows = np.arange(len(positions))
        budget = len(self._bytes)  # lists overlap only in a forged file
        for _ in range(MAX_REFERENCES + 1):
            codes = self._bytes[positions]
            done = codes == opcodes.APPENDS
            stops[rows[done]] = positions[done]
            sizes = REFERENCE_SIZES[codes]
            going = (sizes > 0) & (positions + sizes < self._limit)
            rows, positions = rows[going], (positions + sizes)[going]
            budget -= len(rows)
            if not len(rows) or budget < 0:
                break
        return stops

    def references(self, positions: Integers) -> tuple[Integers, Integers]:
        """Return numbers in the memo, and the sizes of the opcodes: 0 if it is no reference."""
        words = self._words[positions] >> np.uint64(8)
        sizes = REFERENCE_SIZES[self._bytes[positions]]
        numbers = words & np.where(sizes == 5, 0xFFFFFFFF, 0xFF).astype(np.uint64)
        return numbers.view(np.int64), sizes

    def _kept(self, positions: Integers, is_fresh: Truths) -> tuple[Integers, Integers]:
        """Skip the MEMOIZE after a value, if there is one."""
        is_kept = is_fresh & (positions >= 0) & (self._bytes[positions] == opcodes.MEMOIZE)
        return self._ends(positions, positions >= 0, is_kept), is_kept.astype(np.int64)

    def _are(self, positions: Integers, content: bytes) -> Truths:
        mask = np.uint64(2 ** (8 * len(content)) - 1)
        wanted = np.uint64(int.from_bytes(content, "little"))
        are: Truths = (self._words[positions] & mask) == wanted
        return are

    def _ends(self, positions: Integers, fits: Truths, sizes: Integers | Truths | int) -> Integers:
        ends = positions + sizes
        return np.where(fits & (positions >= 0) & (ends < self._limit), ends, MISFIT)
