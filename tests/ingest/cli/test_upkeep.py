"""The commands `edit` and `remove`, and the option `--version`."""

from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

import pytest

import ingest
from tests.builders.events import Event
from tests.conftest import Traces
from tests.helpers.command import Command

EVENT: Event = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
LABELS = "SELECT name, model, mode, tags, note FROM runs"
SHOWN = "SELECT name, model, mode, tags FROM run_overview"


def add(traces: Traces, name: str = "first", dur: int = 1) -> str:
    labels = ingest.AddOptions(name, tags={"gpu": "H100", "batch": "4"})
    return traces.store.add(traces.write([{**EVENT, "dur": dur}], name), labels).run_id


def test_edit_changes_only_the_given_labels(traces: Traces, command: Command) -> None:
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


def test_several_runs_are_labelled_and_removed_at_once(traces: Traces, command: Command) -> None:
    ids = [add(traces, name, dur) for dur, name in enumerate(("first", "second", "third"), 1)]
    done = command("edit", "first", ids[1], "first", "--model", "m", "--tag", "night=1")
    assert (done.code, done.out) == (0, f"changed {ids[0]}\nchanged {ids[1]}\n")
    rows = ingest.connect(traces.store.path).execute(
        "SELECT name, model, tags['night'] FROM run_list ORDER BY name"
    )
    assert rows.fetchall() == [("first", "m", "1"), ("second", "m", "1"), ("third", None, None)]
    done = command("remove", "first", ids[2], "first")
    assert (done.code, done.out) == (0, f"removed {ids[0]}\nremoved {ids[2]}\n")
    assert traces.store.run_ids() == [ids[1]]


def test_an_empty_label_removes_the_one_from_the_runs_files(
    traces: Traces, command: Command
) -> None:
    traces.write([EVENT])
    (traces.directory / "run.json").write_text('{"model": "flux", "mode": "eager"}')
    run_id = traces.store.add(traces.directory).run_id
    traces.store.edit(run_id, ingest.AddOptions(model="", mode="", note=""))
    query = "SELECT model, mode, note FROM runs"
    assert ingest.connect(traces.store.path).execute(query).fetchall() == [(None, None, None)]
    traces.store.rebuild(run_id)
    assert ingest.connect(traces.store.path).execute(query).fetchall() == [(None, None, None)]
    assert "cannot be empty" in command("edit", run_id, "--name", "").err
    assert command("edit", run_id).code == 2


def test_concurrent_edits_are_all_kept(traces: Traces) -> None:
    run_id = add(traces)

    def tag(key: str) -> None:
        ingest.Store(traces.store.path).edit(run_id, ingest.AddOptions(tags={key: "1"}))

    keys = [f"k{number}" for number in range(6)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tag, keys))
    [(tags,)] = ingest.connect(traces.store.path).execute("SELECT tags FROM runs").fetchall()
    assert tags == {"gpu": "H100", "batch": "4"} | dict.fromkeys(keys, "1")


def test_a_run_that_is_edited_during_a_rebuild_keeps_the_new_labels(traces: Traces) -> None:
    run_id = add(traces)

    done: list[float] = []

    def label(share: float) -> None:
        if not done:
            ingest.Store(traces.store.path).edit(run_id, ingest.AddOptions(model="new"))
        done.append(share)

    with pytest.raises(ingest.IngestError, match="its labels changed during the rebuild"):
        traces.store.rebuild(run_id, progress=label)
    rows = ingest.connect(traces.store.path).execute("SELECT model FROM runs").fetchall()
    assert rows == [("new",)]


def test_labels_survive_a_rebuild(traces: Traces, command: Command) -> None:
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


def test_wrong_arguments_change_nothing(traces: Traces, command: Command) -> None:
    run_id = add(traces)
    before = ingest.connect(traces.store.path).execute(LABELS).fetchall()
    for arguments, message in (
        (["edit", "none", "--name", "x"], "no such run"),
        (["edit", "first", "--tag", "x"], "KEY=VALUE"),
        (["edit", "first", "--mode", "fast"], "fast"),
        (["remove", "first", "second"], "no such run"),
    ):
        done = command(*arguments)
        assert done.code, arguments
        assert message in done.err
        assert ingest.connect(traces.store.path).execute(LABELS).fetchall() == before
    assert traces.store.run_ids() == [run_id]


def test_the_version_is_printed(command: Command) -> None:
    assert command("--version").out == f"tracehouse {metadata.version('tracehouse')}\n"
