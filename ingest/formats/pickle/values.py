"""The values that a pickle builds: checks of each change, and a limit on their memory."""

from typing import Any

from ingest.formats.pickle.handover import ITEM_BYTES, TEXT_BYTES, State
from ingest.formats.pickle.stream import PickleBytes

MAX_HELD_BYTES = 2 << 30  # estimated memory of the values that are not handed over
SHARED_TEXTS = 65_536  # number of distinct strings that are stored only once
MAX_NUMBERS_AS_KEYS = 1000  # of a dict: numbers, unlike strings, can be chosen to collide
KEYS = frozenset([str, int, float, bool, type(None)])
TEXTS_ALONE = frozenset([str])


class Values:
    """The values of `state`, which the bytes of `source` build.

    A wrong change raises ProfileError, which names the byte. `key`: the lists under this key of the
    outermost dict do not count towards the limit, which is `max_held_bytes`, or else 2 GiB.
    """

    def __init__(
        self,
        source: PickleBytes,
        state: State,
        key: str | None,
        max_held_bytes: int | None = None,
    ) -> None:
        self.source = source
        self.state = state
        self.key = key
        self.max_held_bytes = max_held_bytes or MAX_HELD_BYTES
        self.texts: dict[bytes, str] = {}

    def set(self, start: int, target: Any, values: list[Any]) -> None:
        """Set keys of a dict; `values` has each key before its value."""
        if type(target) is not dict:
            self.source.fail(start, f"cannot set keys of {kind(target)}")
        if len(values) % 2:
            self.source.fail(start, "a key without a value")
        keys = values[::2]
        kinds = set(map(type, keys))
        if not kinds <= TEXTS_ALONE:
            for key in keys:
                if type(key) not in KEYS:
                    self.source.fail(start, f"{kind(key)} as a key")
            if len(target) + len(keys) > MAX_NUMBERS_AS_KEYS:
                most = f"{MAX_NUMBERS_AS_KEYS:,}"
                self.source.fail(start, f"more than {most} keys, not all of which are strings")
        target.update(zip(keys, values[1::2], strict=True))
        self.state.held += ITEM_BYTES * len(values)

    def text(self, raw: bytes) -> str:
        """Return the string, the same object for equal bytes. Replace bytes that are not UTF-8."""
        text = raw.decode("utf-8", "replace")
        if len(raw) < 256:
            if len(self.texts) >= SHARED_TEXTS:
                self.texts.clear()
            self.texts[raw] = text
        self.state.held_texts += TEXT_BYTES + len(raw)
        return text

    def unmark(self, start: int, below: int) -> int:
        """Remove the last mark and return its position. Require `below` values before it."""
        if not self.state.marks:
            self.source.fail(start, "no MARK on the stack")
        mark = self.state.marks.pop()
        if mark - (self.state.marks[-1] if self.state.marks else 0) < below:
            self.source.fail(start, "too few values on the stack")
        return mark

    def require(self, start: int, count: int) -> None:
        """Require `count` values after the last mark."""
        if len(self.state.stack) - (self.state.marks[-1] if self.state.marks else 0) < count:
            self.source.fail(start, "too few values on the stack")

    def length(self, start: int, length: int, most: int) -> None:
        """Require that a length is at most `most` bytes."""
        if length > most:
            self.source.fail(start, f"a length of {length:,} bytes, more than {most:,}")

    def load(self, at: int, size: int) -> int:
        """Load `size` bytes from `at`. Return the new position of `at`."""
        at = self.source.load(at, size)
        self.check_held()
        return at

    def check_held(self) -> None:
        """Require that the values take no more memory than the limit."""
        state = self.state
        held = state.held + state.held_texts + 16 * len(state.memo) + 40 * len(state.stack)
        if held > self.max_held_bytes:
            outside = f" outside {self.key}" if self.key else ""
            self.source.fail(0, f"more than {self.max_held_bytes >> 20:,} MiB of values{outside}")


def kind(value: Any) -> str:
    """Return the type of a value as text with an article: `a string`."""
    names = {str: "a string", int: "an integer", float: "a float", bool: "a bool"}
    names |= {list: "a list", tuple: "a tuple", dict: "a dict", type(None): "None"}
    return names.get(type(value), "a second reference to a list item")
