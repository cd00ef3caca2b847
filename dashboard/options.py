"""The options of the dashboard: those after `--` on the command line, and the environment."""

import argparse
import os
import sys
from functools import cache
from typing import NoReturn

import ingest

READ_ONLY = "TRACEHOUSE_READ_ONLY"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ingest.IngestError(
            f"{message}; options after `--` are --store DIR|URL, --run NAME and --read-only"
        )


def check() -> None:
    """Raise IngestError if an option or the environment variable is invalid.

    Pages ignore unknown options: the arguments may be those of another program that serves them.
    """
    _parser().parse_args(sys.argv[1:])
    is_read_only()


def store() -> str:
    """Return the place of the store: the option `--store DIR|URL`, or ingest's default."""
    return str(_known(*sys.argv[1:]).store or ingest.default_store())


def run() -> str | None:
    """Return the name of the run to open at the start: the option `--run NAME`."""
    name = _known(*sys.argv[1:]).run
    return str(name) if name else None


def is_read_only() -> bool:
    """Return whether the dashboard was started with `--read-only` or TRACEHOUSE_READ_ONLY=1.

    Raise IngestError if the environment variable has another value.
    """
    setting = os.environ.get(READ_ONLY, "")
    if setting not in ("", "0", "1"):
        raise ingest.IngestError(f"{READ_ONLY}: must be 0 or 1, not {setting}")
    return setting == "1" or bool(_known(*sys.argv[1:]).read_only)


@cache  # a page asks for the store dozens of times
def _known(*arguments: str) -> argparse.Namespace:
    return _parser().parse_known_args(arguments)[0]


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--store")
    parser.add_argument("--run")
    parser.add_argument("--read-only", action="store_true")
    return parser
