"""The commands that keep a store: `edit`, `remove`, and which version this is."""

from importlib import metadata

import pytest

import ingest
from tests.builders.events import Event
from tests.command import Command
from tests.conftest import Traces

EVENT: Event = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
LABELS = "SELECT name, model, mode, tags, note FROM runs"
SHOWN = "SELECT name, model, mode, tags FROM run_overview"


def add(traces: Traces, name: str = "first", dur: int = 1) -> str:
    labels = ingest.AddOptions(name, tags={"gpu": "H100", "batch": "4"})
    return traces.store.add(traces.write([{**EVENT, "dur": dur}], name), labels).run_id


def test_labels_are_changed_and_others_stay(traces: Traces, command: Command) -> None:
    run_id = add(traces)
    done = command("edit", run_id, "--name", "it's new", "--mode", "eager", "--tag", "gpu=B200")
    assert (done.code, done.out, done.err) == (0, f"changed {run_id}\n", "")
    connection = ingest.connect(traces.store.path)
    labels = ("it's new", None, "eager", {"gpu": "B200", "batch": "4"})
    assert connection.execute(LABELS).fetchall() == [(*labels, None)]
    assert connection.execute(SHOWN).fetchall() == [labels]
    assert command("edit", "it's new", "--note", "slow\nstart", "--untag", "gpu").code == 0
    labels = ("it's new", None, "eager", {"batch": "4"})
    assert connection.execute(LABELS).fetchall() == [(*labels, "slow\nstart")]
    assert connection.execute(SHOWN).fetchall() == [labels]
    assert command("check").code == 0


def test_labels_outlive_building_the_run_again(traces: Traces, command: Command) -> None:
    run_id = add(traces)
    command("edit", run_id, "--name", "new", "--model", "m", "--untag", "gpu", "--note", "n")
    (traces.store.run_path(run_id) / "ops.parquet").unlink()
    assert command("check", "--repair").code == 0
    rows = ingest.connect(traces.store.path).execute(LABELS).fetchall()
    assert rows == [("new", "m", None, {"batch": "4"}, "n")]


def test_secrets_in_labels_are_redacted(traces: Traces, command: Command) -> None:
    run_id = add(traces)
    secret = "hf_" + "a1B2" * 8
    command("edit", run_id, "--note", f"with {secret}", "--tag", f"token={secret}")
    everything = b"".join(file.read_bytes() for file in traces.store.run_path(run_id).iterdir())
    assert secret.encode() not in everything
    rows = ingest.connect(traces.store.path).execute("SELECT note, tags FROM runs").fetchall()
    assert secret not in str(rows)
    assert "[redacted]" in str(rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["edit", "none", "--name", "x"], "no such run"),
        (["edit", "first", "--tag", "x"], "KEY=VALUE"),
        (["edit", "first", "--mode", "fast"], "fast"),
    ],
)
def test_a_wrong_edit_changes_nothing(
    arguments: list[str], words: str, traces: Traces, command: Command
) -> None:
    add(traces)
    before = ingest.connect(traces.store.path).execute(LABELS).fetchall()
    done = command(*arguments)
    assert done.code
    assert words in done.err
    assert ingest.connect(traces.store.path).execute(LABELS).fetchall() == before


def test_several_runs_are_removed(traces: Traces, command: Command) -> None:
    ids = [add(traces, name, dur) for dur, name in enumerate(("first", "second", "third"), 1)]
    done = command("remove", "first", ids[2], "first")
    assert (done.code, done.out) == (0, f"removed {ids[0]}\nremoved {ids[2]}\n")
    assert traces.store.run_ids() == [ids[1]]


def test_one_wrong_name_removes_nothing(traces: Traces, command: Command) -> None:
    run_id = add(traces)
    assert command("remove", "first", "second").code == 1
    assert traces.store.run_ids() == [run_id]


def test_the_version_is_told(command: Command) -> None:
    assert command("--version").out == f"tracehouse {metadata.version('tracehouse')}\n"
