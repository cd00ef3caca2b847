"""The command `ingest`, called in the process of the tests."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.cli import main


@dataclass(frozen=True)
class Result:
    """The output of a command and its exit code."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> dict[str, list[str]]:
        """The cells of each table row in `out`, by the first cell of the row."""
        lines = [[cell for cell in line.split("   ") if cell] for line in self.out.splitlines()]
        return {cells[0].strip(): [c.strip() for c in cells[1:]] for cells in lines if cells}


@dataclass(frozen=True)
class Command:
    """Runs `ingest …` on a store."""

    store: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object, store: Path | None = None) -> Result:
        self.monkeypatch.setenv("TRACEHOUSE_STORE", str(store or self.store))
        self.monkeypatch.setattr(sys, "argv", ["ingest", *map(str, arguments)])
        code = 0
        try:
            main.main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = self.capsys.readouterr()
        return Result(code, captured.out, captured.err)
