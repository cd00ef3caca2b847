"""Steps through many places of a pickle at a time: the instructions that events are made of.

Each step takes the places where it begins, and gives where it ends: -1 where it does not fit, or
has not fitted before. Numbers, references and kept values are those of the machine in pickled.py.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.formats.snapshot.pickle import opcodes as opcodes

MISFIT = -1
ABSENT = np.iinfo(np.int64).min  # for a value that is not there
MARGIN = 16  # bytes that a step may look at beyond its place
MAX_REFERENCES = 1000  # of one list; picklers end a batch there

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

WIDTHS = np.zeros(256, np.int64)  # bytes of an integer's value, LONG1 aside
WIDTHS[[opcodes.BININT1, opcodes.BININT2, opcodes.BININT]] = 1, 2, 4
REFERENCE_SIZES = np.zeros(256, np.int64)
REFERENCE_SIZES[[opcodes.BINGET, opcodes.LONG_BINGET]] = 2, 5


class Values(NamedTuple):
    """What a step read: `numbers`, and where it `ends`.

    Of a text, list or pool that is a reference, its number in the memo; of one that is written
    out, -1 minus the place of its content. `kept`: 1 where it is added to the memo, else 0.
    `more`: where a list's references stop; the second number of a pool.
    """

    numbers: Integers
    ends: Integers
    kept: Integers
    more: Integers


class LaneDecoder:
    """The bytes at hand, as numbers."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 2 * MARGIN:
            data += bytes(2 * MARGIN)
        self._bytes = np.frombuffer(data, np.uint8)
        self._words = np.ndarray(len(data) - 7, np.dtype("<u8"), data, strides=(1,))  # one at each
        self._limit = len(data) - MARGIN

    def words(self, places: Integers) -> npt.NDArray[np.uint64]:
        """The eight bytes from each place on."""
        words: npt.NDArray[np.uint64] = self._words[places]
        return words

    def find(self, content: bytes, start: int) -> Integers:
        """Where from `start` on these bytes are, up to eight."""
        places = np.flatnonzero(self._bytes[start : self._limit] == content[0]) + start
        return places[self._are(places, content)]

    def over(self, places: Integers, content: bytes) -> Integers:
        """Past these very bytes, up to eight."""
        return self._ends(places, self._are(places, content), len(content))

    def integers(self, places: Integers) -> Values:
        """Integers of up to eight bytes."""
        words = self._words[places]
        codes = self._bytes[places]
        is_long = codes == opcodes.LONG1
        widths = np.where(is_long, self._bytes[places + 1], WIDTHS[codes])
        fits = (widths >= 1) & (widths <= 8)
        shift = (64 - 8 * np.clip(widths, 1, 8)).astype(np.uint64)
        shifted = np.where(is_long, self._words[places + 2], words >> np.uint64(8)) << shift
        is_signed = is_long | (codes == opcodes.BININT)
        numbers = np.where(
            is_signed,
            shifted.view(np.int64) >> shift.view(np.int64),
            (shifted >> shift).view(np.int64),
        )
        fits &= numbers != ABSENT
        none = np.zeros_like(numbers)
        return Values(numbers, self._ends(places, fits, 1 + is_long + widths), none, none)

    def texts(self, places: Integers) -> Values:
        """References, or strings of up to 255 bytes."""
        numbers, sizes = self.references(places)
        is_fresh = self._bytes[places] == opcodes.SHORT_TEXT
        numbers[is_fresh] = -2 - places[is_fresh]
        sizes[is_fresh] = 2 + self._bytes[places[is_fresh] + 1]
        ends = self._ends(places, sizes > 0, sizes)
        return Values(numbers, *self._kept(ends, is_fresh), np.zeros_like(numbers))

    def pools(self, places: Integers) -> Values:
        """References, or pairs of integers; of a pair, `numbers` is -1 minus the first."""
        numbers, sizes = self.references(places)
        ends = self._ends(places, sizes > 0, sizes)
        first = self.integers(places)
        second = self.integers(first.ends)
        made = self.over(second.ends, bytes([opcodes.TUPLE2]))
        pairs = np.stack([first.numbers, second.numbers])
        is_fresh = (made >= 0) & ((pairs >= 0) & (pairs < 2**31)).all(axis=0)
        numbers = np.where(is_fresh, -1 - first.numbers, numbers)
        ends = np.where(is_fresh, made, ends)
        return Values(numbers, *self._kept(ends, is_fresh), second.numbers)

    def lists(self, places: Integers) -> Values:
        """References, or lists of references: empty, of one, or of a batch."""
        numbers, sizes = self.references(places)
        ends = self._ends(places, sizes > 0, sizes)
        stops = np.zeros_like(places)
        is_fresh = (self._bytes[places] == opcodes.EMPTY_LIST) & (places >= 0)
        fresh = np.flatnonzero(is_fresh)
        starts, kept = self._kept(self._ends(places, is_fresh, 1), is_fresh)
        at = starts[fresh]
        # A batch is marked; of one alone the reference is followed by its addition.
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

    def _stops(self, places: Integers) -> Integers:
        """Where runs of references are followed by their addition to a list."""
        stops = np.full(len(places), MISFIT, np.int64)
        rows = np.arange(len(places))
        budget = len(self._bytes)  # lists do not overlap, unless they are made to seem so
        for _ in range(MAX_REFERENCES + 1):
            codes = self._bytes[places]
            done = codes == opcodes.APPENDS
            stops[rows[done]] = places[done]
            sizes = REFERENCE_SIZES[codes]
            going = (sizes > 0) & (places + sizes < self._limit)
            rows, places = rows[going], (places + sizes)[going]
            budget -= len(rows)
            if not len(rows) or budget < 0:
                break
        return stops

    def references(self, places: Integers) -> tuple[Integers, Integers]:
        """Numbers in the memo, and the sizes of the instructions: 0 where there is none."""
        words = self._words[places] >> np.uint64(8)
        sizes = REFERENCE_SIZES[self._bytes[places]]
        numbers = words & np.where(sizes == 5, 0xFFFFFFFF, 0xFF).astype(np.uint64)
        return numbers.view(np.int64), sizes

    def _kept(self, places: Integers, is_fresh: Truths) -> tuple[Integers, Integers]:
        """Past the instruction that adds a value to the memo, where there is one."""
        is_kept = is_fresh & (places >= 0) & (self._bytes[places] == opcodes.MEMOIZE)
        return self._ends(places, places >= 0, is_kept), is_kept.astype(np.int64)

    def _are(self, places: Integers, content: bytes) -> Truths:
        mask = np.uint64(2 ** (8 * len(content)) - 1)
        wanted = np.uint64(int.from_bytes(content, "little"))
        are: Truths = (self._words[places] & mask) == wanted
        return are

    def _ends(self, places: Integers, fits: Truths, sizes: Integers | Truths | int) -> Integers:
        ends = places + sizes
        return np.where(fits & (places >= 0) & (ends < self._limit), ends, MISFIT)
