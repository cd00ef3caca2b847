"""Inputs of `ingest profile-analyze`: runs, files without a store, and errors for anything else."""

import csv
import gzip
import io
import json
import shutil
from pathlib import Path

import pytest

import ingest
from tests.builders.events import op
from tests.builders.megengine import CPU, THREAD, Opr, content, profile
from tests.conftest import Traces
from tests.helpers.command import Command, Result


def one_line(result: Result) -> str:
    """Return a command's error message in one line, without the frame around it."""
    return " ".join(result.err.replace("│", " ").split())


def of_type(kind: str) -> str:
    """Return a profile of one operator of a type."""
    return profile(Opr("1", kind, device={CPU: (0, 1, 4)}, host={THREAD: (0, 1, 2)}))


def test_a_file_needs_no_store(samples: Path, command: Command, tmp_path: Path) -> None:
    file = samples / "megengine" / "prof_async.json"
    expected = (samples / "expected" / "megengine" / "prof_async__00.txt").read_text()
    absent = tmp_path / "store"
    result = command("profile-analyze", file, store=absent)
    assert (result.code, result.out, result.err) == (0, expected, "")
    zipped = tmp_path / "prof.json.gz"
    zipped.write_bytes(gzip.compress(file.read_bytes()))
    result = command("profile-analyze", zipped, store=absent)
    assert (result.code, result.out, result.err) == (0, expected, "")
    assert not absent.exists()


def test_each_file_of_two_ranks_is_printed(
    samples: Path, command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    names = {"rank0.json": "prof_fast", "rank1.json": "prof_net3"}
    for name, sample in names.items():
        shutil.copy(samples / "megengine" / f"{sample}.json", run / name)
    printed = "".join(
        f"{run / name}\n" + (samples / "expected" / "megengine" / f"{sample}__00.txt").read_text()
        for name, sample in names.items()
    )
    assert command("profile-analyze", run).out == printed
    store.add(run)  # the command finds it by its name, and need not read the files again
    analyses = json.loads(command("profile-analyze", "run", "--json", "-t", "0").out)
    assert [(part["path"], len(part["device"])) for part in analyses] == [
        (str(run / "rank0.json"), 34),
        (str(run / "rank1.json"), 42),
    ]
    rows = csv.DictReader(io.StringIO(command("profile-analyze", "run", "--csv", "-t", "0").out))
    paths = [row["path"] for row in rows]
    assert paths == [str(run / "rank0.json")] * 34 + [str(run / "rank1.json")] * 42


def test_a_run_is_named_as_in_other_commands(traces: Traces, command: Command) -> None:
    for name in ("first", "second"):
        traces.store.add(traces.write(of_type(name), name))
    result = command("profile-analyze", "second", "--dump-only-opr", "--print-only", "device")
    assert (result.code, result.out) == (0, "second[1] second 1\n")


def test_a_damaged_file_is_analysed_with_a_warning(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(of_type("Elemwise")[:-20])
    result = command("profile-analyze", path, "--dump-only-opr")
    assert result.code == 0
    assert "warning: cut.json: the file ends in section operator\n" in result.err


def test_a_file_without_a_graph_still_has_its_path(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    path.write_text(json.dumps({"profiler": json.loads(of_type("Elemwise"))["profiler"]}))
    [analysis] = json.loads(command("profile-analyze", path, "--json").out)
    assert (analysis["path"], analysis["device"]) == (str(path), [])


@pytest.fixture(scope="module")
def one_profile(shared_traces: Traces) -> Path:
    """A store with a run `trace`, which is a profile of one operator."""
    shared_traces.store.add(shared_traces.write(of_type("Elemwise")))
    return shared_traces.store.path


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (("--json", "--csv"), "--json and --csv cannot be used together"),
        (("--order-by", "speed"), "'speed' is not one of time, computation, memory, flops"),
        (("--order-by", "-time"), "'-time' is not one of"),
        (("--order-by", "++time"), "'++time' is not one of"),
        (("--opr-name", "("), "invalid regular expression: missing )"),
        (("--opr-name", "a)|(b"), "invalid regular expression: unexpected )"),
        (("--opr-name", "(?!a)"), "invalid regular expression: invalid perl operator: (?!"),
        (("--aggregate", "median"), "'median' is not one of 'max', 'min', 'sum', 'mean'"),
        (("--aggregate-by", "name"), "'name' is not"),
        (("--top-end-key", "start"), "'start' is not one of 'end', 'kern'"),
        (("--print-only", "all"), "'all' is not one of 'summary', 'device', 'host'"),
        (("-t", "-1"), "-1 is not in the range"),
        (("--min-time", "long"), "'long' is not a valid float"),
    ],
)
def test_wrong_usage_reports_the_reason(
    wrong: tuple[str, ...], reason: str, one_profile: Path, command: Command
) -> None:
    result = command("profile-analyze", "trace", *wrong, store=one_profile)
    assert (result.code, result.out) == (2, "")
    assert reason in one_line(result)


def test_anything_but_a_megengine_profile_is_an_error(
    traces: Traces, command: Command, tmp_path: Path
) -> None:
    path = traces.write([op("aten::mm")])
    run_id = traces.store.add(path).run_id
    empty = content()
    empty["graph_exec"]["comp_seq"] = []
    for name, text in {"empty": json.dumps(empty), "nothing": "", "list": "[1]"}.items():
        (tmp_path / f"{name}.json").write_text(text)
    for argument, reason in {
        "trace": f"{run_id} has no MegEngine profile",
        path: "has no MegEngine profile",
        tmp_path / "empty.json": "empty.json: the profile has no operators",
        tmp_path / "nothing.json": "nothing.json: empty file",
        tmp_path / "list.json": "list.json: ",
        tmp_path / "absent.json": "no such run",
        "absent": "absent: no such run",
        "a" * 3000: "no such run",
        "a\0b": "no such run",
        "": "no such run",
    }.items():
        result = command("profile-analyze", argument)
        assert (result.code, result.out) == (1, ""), argument
        assert result.err.startswith("error: ")
        assert len(result.err.splitlines()) == 1
        assert reason in result.err
