"""What is known of an input file of a run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

MEMORY_KINDS = ("memory_snapshot", "memory_timeline")
PROFILE_KINDS = ("kineto", *MEMORY_KINDS, "compile_log")


def count(number: int, noun: str) -> str:
    """The number with its noun, in the singular where it is one."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


class SourceWarning(NamedTuple):
    """What is odd about a file: a code for programs, and a sentence for people."""

    code: str
    message: str


@dataclass
class Source:
    """An input file of a run: what a row of table `sources` says of it.

    The first warning `unreadable` or `truncated` says why the status is `failed` or `truncated`.
    """

    source_id: int
    path: Path
    kind: str
    bytes: int
    sha256: str
    rank: int | None = None
    status: str = "ok"
    json_bytes: int | None = None
    events: int | None = None
    complete: int | None = None
    other: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    coded_warnings: list[SourceWarning] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None

    def warn(self, code: str, message: str) -> None:
        """Adds a warning."""
        self.coded_warnings.append(SourceWarning(code, message))

    def fail(self, message: str) -> None:
        """Marks the file as one that cannot be read."""
        self.status = "failed"
        self.warn("unreadable", message)

    def message(self, code: str) -> str | None:
        """The first warning with the code, if there is one."""
        return next((said.message for said in self.coded_warnings if said.code == code), None)

    @property
    def warnings(self) -> list[str]:
        """What is odd about the file, one sentence each."""
        return [said.message for said in self.coded_warnings]

    @property
    def warning_codes(self) -> list[str]:
        """The code of each of the `warnings`."""
        return [said.code for said in self.coded_warnings]

    @property
    def is_trace(self) -> bool:
        """Whether it is a trace that belongs to the run."""
        return self.kind == "kineto" and self.status != "skipped"

    @property
    def is_memory(self) -> bool:
        """Whether it is a memory snapshot or timeline that belongs to the run."""
        return self.kind in MEMORY_KINDS and self.status != "skipped"

    @property
    def is_profile(self) -> bool:
        """Whether it holds what belongs to the run."""
        return self.kind in PROFILE_KINDS and self.status != "skipped"

    def summary(self) -> str:
        """One line for people: events, MB, seconds, rows, warnings."""
        if not self.is_profile:
            return ": ".join([self.path.name, self.status, *self.warnings])
        megabytes = (self.json_bytes or 0) / 1e6
        said = "; ".join(self.warnings)
        events = "allocator action" if self.is_memory else "event" if self.is_trace else "record"
        rows = f", {count(self.complete or 0, 'row')}" if self.is_trace else ""
        form = {"memory_snapshot": "pickle", "compile_log": "log"}.get(self.kind, "JSON")
        return (
            f"{self.path.name}: rank {self.rank}, {count(self.events or 0, events)}, "
            f"{megabytes:.1f} MB of {form}, read in {self.seconds or 0:.1f} s"
            f"{rows}, {self.status}" + (f" ({said})" if said else "")
        )

    def as_dict(self) -> dict[str, Any]:
        """What table `sources` says of the file, without its metadata."""
        values = {
            **vars(self),
            "path": str(self.path),
            "warnings": self.warnings,
            "warning_codes": self.warning_codes,
        }
        del values["metadata"], values["coded_warnings"]
        return values
