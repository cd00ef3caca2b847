"""Imports of the packages. `lint-imports` checks dependencies between packages."""

import ast
import json
import os
import pkgutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import ingest
from ingest import server
from ingest.formats import FORMATS, Loader
from tests.builders.events import op

REPOSITORY = Path(__file__).parent.parent
LOADED = "import importlib, pkgutil, sys; {load}; print(*sys.modules)"
LOAD_ALL = (
    "import {0}; [importlib.import_module(m.name) for m in pkgutil.walk_packages("
    "{0}.__path__, '{0}.') if not m.name.endswith('__main__')]"
)


def loaded_by(package: str) -> set[str]:
    """Return the top-level names in `sys.modules` after an import of all modules of the package."""
    program = LOADED.format(load=LOAD_ALL.format(package))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("ingest", {"torch", "streamlit", "capture", "deltalake", "fsspec"}),
        ("ingest.reports", {"typer", "rich", "pandas", "torch", "streamlit", "capture"}),
        ("capture", {"duckdb", "streamlit", "ingest"}),
    ],
)
def test_a_package_never_imports_forbidden_ones(package: str, forbidden: set[str]) -> None:
    assert loaded_by(package) & forbidden == set()


def test_the_public_interface_imports_packages_on_first_use() -> None:
    """The command handles Ctrl-C from its start, so slow imports must come later."""
    program = "import ingest, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"duckdb", "pyarrow", "numpy", "typer", "rich"}
    assert not {name for name in loaded if name.startswith("ingest.")}


def test_the_wheel_contains_every_file() -> None:
    """Setuptools copies modules, and the files that patterns name."""
    patterns = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    for package, globs in patterns["tool"]["setuptools"]["package-data"].items():
        root = REPOSITORY / package
        named = {path for pattern in globs for path in root.glob(pattern)}
        modules = {".py", ".pyc"}
        files = {path for path in root.rglob("*") if path.is_file() and path.suffix not in modules}
        assert files - named == set()
        assert all(any(root.glob(pattern)) for pattern in globs)


def imports_of(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the modules that a file imports, each with the names that it imports from it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, set()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", {alias.name for alias in node.names}


def test_the_dashboard_reaches_data_only_through_ingest() -> None:
    for path in (REPOSITORY / "dashboard").rglob("*.py"):
        for name, imported in imports_of(path):
            package, _, module = name.partition(".")
            assert package not in {"duckdb", "torch", "capture"}, f"{path}: {name}"
            if package == "ingest":
                assert module in ("", "server"), f"{path}: {name}"
                public = server.__all__ if module else [*ingest.__all__, "server"]
                assert imported <= {*public}, path


def test_input_formats_do_not_know_each_other() -> None:
    packages = {format_.load.package for format_ in FORMATS if isinstance(format_.load, Loader)}
    assert len(packages) == len(FORMATS)
    for package in packages:
        paths = list((REPOSITORY / package.replace(".", "/")).rglob("*.py"))
        assert REPOSITORY / package.replace(".", "/") / "load.py" in paths
        for path in paths:
            for name, imported in imports_of(path):
                known = {name, *(f"{name}.{each}" for each in imported)}
                assert known.isdisjoint({"ingest.formats.registry", *packages - {package}}), path
                assert not name.startswith(tuple(f"{other}." for other in packages - {package}))


def test_no_two_modules_of_the_formats_import_each_other() -> None:
    paths = {f"ingest.formats.{path.stem}": path for path in REPOSITORY.glob("ingest/formats/*.py")}
    imported = {module: {name for name, _ in imports_of(path)} for module, path in paths.items()}
    left = set(paths) - {"ingest.formats.__init__"}
    while free := {module for module in left if imported[module].isdisjoint(left - {module})}:
        left -= free
    assert not left


def test_no_package_has_the_name_of_a_public_object() -> None:
    """Otherwise `ingest.compare` would be a function, or a package after its import."""
    packages_of_ingest = {module.name for module in pkgutil.iter_modules(ingest.__path__)}
    assert packages_of_ingest.isdisjoint(ingest.__all__)


def test_adding_a_trace_imports_no_pandas(tmp_path: Path) -> None:
    """The import would take longer than adding a small trace."""
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": [op("a"), op("b", 2)]}))
    program = "import ingest, sys; ingest.Store('store').add('trace.json'); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pyarrow" in done.stdout.split()
    assert "pandas" not in done.stdout.split()


def test_a_format_is_imported_with_its_first_file(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": [op("a"), op("b", 2)]}))
    program = (
        "import ingest, sys; store = ingest.Store('store'); {added}; "
        "print(*(name for name in sys.modules if name.startswith('ingest.formats.')))"
    )

    def packages(added: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", program.format(added=added)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            check=True,
        )
        modules = done.stdout.split()
        return {name.split(".")[2] for name in modules if name.endswith((".load", ".reader"))}

    assert packages("ingest.connect(store)") == set()
    assert packages("store.add('trace.json')") == {"kineto"}
