"""Input files of a run, and their warnings."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ingest.formats.format import Format
from ingest.units import as_utf8, counted

MAX_RANKS = 1_000_000  # of a job
HIDDEN = (  # not columns of `sources`, or filled in separately
    "clock",
    "coded_warnings",
    "conditions",
    "devices",
    "format",
    "framework",
    "host_name",
    "metadata",
    "pid",
    "process",
    "state",
    "world_size",
)


class SourceWarning(NamedTuple):
    """A warning about a file: a code for programs and a message for people."""

    code: str
    message: str


@dataclass
class Source:
    """An input file of a run, with the columns of table `sources`.

    A file that holds several processes has a source for each. `process` is then its label; the
    sizes of all but the first are None.

    `format` is None if the file holds no profile. If the status is `failed` or `truncated`, the
    first warning with the code `unreadable` or `truncated` is the reason.

    The format's reader sets what the file records about its process:
    `clock`: Unix time of the zero of the file's times, ns.
    `rank`: becomes the assumed rank later, if it is not recorded.
    `world_size`: number of processes of the job.
    `pid`: process id.
    `host_name`: the host on which the process ran.
    `framework`: the framework that wrote the file, if it differs from the format's.
    `devices`: devices, with the fields of `sources.known_devices`.
    `conditions`: versions and settings by name, which `run_conditions` compares.

    `state`: a local file's state when its checksum was computed (`io.state_of`).
    """

    source_id: int
    path: Path
    kind: str
    bytes: int | None
    sha256: str | None
    format: Format | None = None
    rank: int | None = None
    cycle: int | None = None
    status: str = "ok"
    json_bytes: int | None = None
    events: int | None = None
    complete: int | None = None
    other: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    coded_warnings: list[SourceWarning] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    clock: int | None = None
    world_size: int | None = None
    pid: str | None = None
    host_name: str | None = None
    devices: list[dict[str, Any]] = field(default_factory=list)
    conditions: dict[str, str] = field(default_factory=dict)
    process: str | None = None
    seconds: float | None = None
    framework: str = ""
    state: tuple[int, ...] = ()

    def warn(self, code: str, message: str) -> None:
        """Add a warning."""
        self.coded_warnings.append(SourceWarning(code, message))

    def fail(self, message: str) -> None:
        """Mark the file as unreadable. `message` is the reason."""
        self.status = "failed"
        self.warn("unreadable", message)

    def message(self, code: str) -> str | None:
        """Return the message of the first warning with the code, or None."""
        return next((each.message for each in self.coded_warnings if each.code == code), None)

    @property
    def path_text(self) -> str:
        """The path, with bytes that are not UTF-8 escaped, to be stored and printed."""
        return as_utf8(str(self.path))

    @property
    def name(self) -> str:
        """The file's name, with bytes that are not UTF-8 escaped, to be stored and printed."""
        return as_utf8(self.path.name)

    @property
    def warnings(self) -> list[str]:
        """The messages of all warnings."""
        return [as_utf8(each.message) for each in self.coded_warnings]

    @property
    def warning_codes(self) -> list[str]:
        """The codes of all warnings, in the order of `warnings`."""
        return [each.code for each in self.coded_warnings]

    @property
    def is_profile(self) -> bool:
        """Whether the file is a profile of the run.

        A copy of another file is no profile of the run. Neither is a trace of captures, whose
        `kind` differs from that of its format.
        """
        return (
            self.format is not None and self.kind == self.format.kind and self.status != "skipped"
        )

    @property
    def has_events(self) -> bool:
        """Whether the file has rows in table `events`."""
        return self.is_profile and self.format is not None and self.format.has_events

    def copy(self) -> "Source":
        """Return a copy that can be changed separately."""
        return replace(
            self,
            other=dict(self.other),
            dropped=dict(self.dropped),
            coded_warnings=list(self.coded_warnings),
            metadata=dict(self.metadata),
        )

    def summary(self) -> str:
        """Return one line for people: events, MB, seconds, rows and warnings."""
        if self.format is None or self.status == "skipped":
            return ": ".join(filter(None, [self.name, self.status, "; ".join(self.warnings)]))
        facts = [f"rank {self.rank}"] if self.is_profile else [self.kind.replace("_", " ")]
        if self.cycle:
            facts.append(f"cycle {self.cycle}")
        facts.append(counted(self.events or 0, self.format.noun))
        if self.bytes is not None:
            megabytes = (self.json_bytes or 0) / 1e6
            facts.append(f"{megabytes:.1f} MB of {self.format.encoding}")
            facts.append(f"read in {self.seconds or 0:.1f} s")
        if self.has_events:
            facts.append(counted(self.complete or 0, "row"))
        warnings = "; ".join(self.warnings)
        ending = f" ({warnings})" if warnings else ""
        return f"{self.name}: {', '.join(facts)}, {self.status}{ending}"

    def as_dict(self) -> dict[str, Any]:
        """Return the file's row of table `sources`, without its metadata."""
        values = {name: value for name, value in vars(self).items() if name not in HIDDEN}
        return values | {
            "path": self.path_text,
            "warnings": self.warnings,
            "warning_codes": self.warning_codes,
        }
