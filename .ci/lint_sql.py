"""Lints SQL files with sqlfluff, except those that passed unchanged before.

    python .ci/lint_sql.py <directory> <passed>

The file `passed` has a line for each file that passed: the digest of its content, of sqlfluff's
configuration and of its version. It can be deleted at any time.
"""

import json
import subprocess
import sys
import tomllib
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

SQLFLUFF = (sys.executable, "-m", "sqlfluff", "lint", "--processes", "0", "--format", "json")


def main(directory: Path, passed: Path) -> int:
    """Lint the files of a directory, and print what is wrong. Return the exit code."""
    configuration = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["sqlfluff"]
    rules = json.dumps([configuration, version("sqlfluff"), version("sqlfluffrs")])
    digests = {
        str(file): sha256(f"{rules}\n".encode() + file.read_bytes()).hexdigest()
        for file in sorted(directory.rglob("*.sql"))
    }
    before = set(passed.read_text().splitlines()) if passed.exists() else set()
    files = [file for file, digest in digests.items() if digest not in before]
    violations = linted(files) if files else {}
    for file in files:
        if file not in violations:
            sys.exit(f"{file}: sqlfluff did not lint it")
        for each in violations[file]:
            place = f"{file}:{each['start_line_no']}:{each['start_line_pos']}"
            print(f"{place}: {each['code']} {each['description']}")
    failed = [file for file in files if violations[file]]
    passed.write_text("".join(f"{digests[file]}\n" for file in digests if file not in failed))
    count = "1 SQL file" if len(files) == 1 else f"{len(files)} SQL files"
    print(f"sqlfluff: {len(failed)} of {count} failed" if failed else f"sqlfluff: {count} passed")
    return 1 if failed else 0


def linted(files: list[str]) -> dict[str, list[dict[str, object]]]:
    """Return the violations in each file."""
    finished = subprocess.run([*SQLFLUFF, *files], capture_output=True, text=True, check=False)
    if finished.returncode not in (0, 1):
        sys.exit(finished.stderr or finished.returncode)
    return {each["filepath"]: each["violations"] for each in json.loads(finished.stdout)}


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
