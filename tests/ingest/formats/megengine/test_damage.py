"""Damaged profiles of MegEngine: readable entries are kept, and the others are counted."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.megengine import CPU, THREAD, Opr, profile

NAME = "prof_async"
PIECES = '{}[]",:xyz019\\'


@pytest.fixture
def text(samples: Path) -> str:
    return (samples / "megengine" / f"{NAME}.json").read_text()


def source(store: ingest.Store, path: Path) -> dict[str, Any]:
    """Add a file and return its source. Checks that everything in the file is counted."""
    [added] = store.add(path).sources
    row = added.as_dict()
    counted = row["complete"] + sum(row["other"].values()) + sum(row["dropped"].values())
    assert row["events"] == counted
    return row


def codes(traces, content: Any) -> list[str]:
    text = content if isinstance(content, str) else json.dumps(content)
    return list(source(traces.store, traces.write(text))["warning_codes"])


@pytest.mark.parametrize("percent", [4, 9, 17, 26, 33, 48, 61, 77, 90, 99])
def test_a_truncated_profile_keeps_entries_before_the_cut(text, traces, percent):
    cut = text[: len(text) * percent // 100]
    row = source(traces.store, traces.write(cut))
    assert row["status"] == "truncated"
    whole = json.loads(text)["profiler"]
    named = [opr for opr in whole["host"] if f'"{opr}": {{"comp_node' in cut]
    kept = ingest.connect(traces.store.path).sql(
        "SELECT opr_key FROM megengine_oprs WHERE len(host_times) > 0"
    )
    assert len({key for (key,) in kept.fetchall()}) >= len(named) - 1


@pytest.mark.parametrize("content", ['{"profiler": {"host', '{"graph_exec": {"var": 1'])
def test_a_file_without_an_entry_is_one_error(traces, content):
    padding = " " * 40 + '"opr_footprint": {'
    with pytest.raises(ingest.IngestError, match=r"no operator can be read|not a profiler trace"):
        traces.store.add(traces.write(content + padding))


def test_a_file_without_its_last_brace_is_truncated(text, traces):
    row = source(traces.store, traces.write(text.rstrip().removesuffix("}")))
    assert row["status"] == "truncated"
    assert row["complete"] == 48


def test_text_after_the_end_is_counted(text, traces):
    row = source(traces.store, traces.write(text + " rest"))
    assert (row["status"], row["warning_codes"]) == ("ok", ["bytes_after_end"])


@pytest.mark.parametrize("seed", range(8))
def test_garbled_bytes_cause_no_traceback(text, traces, seed):
    chance = random.Random(seed)
    characters = list(text)
    for _ in range(4):
        start = chance.randrange(len(text))
        for place in range(start, min(start + 15, len(text))):
            characters[place] = chance.choice(PIECES)
    row = source(traces.store, traces.write("".join(characters)))
    assert row["status"] == "truncated" or row["warning_codes"]


@pytest.mark.parametrize(
    "name", ["host", "device", "opr_footprint", "operator", "var", "mem_chunk", "comp_seq"]
)
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_missing_or_empty_section_is_named(text, traces, name, is_empty):
    content = json.loads(text)
    section = content["profiler"] if name in content["profiler"] else content["graph_exec"]
    if is_empty:
        section[name] = type(section[name])()
    else:
        del section[name]
    row = source(traces.store, traces.write(json.dumps(content)))
    [said] = [
        message
        for code, message in zip(row["warning_codes"], row["warnings"], strict=True)
        if code == "sections_missing"
    ]
    assert said == f"missing or empty sections: {name}"


def test_entries_that_are_not_objects_are_counted(text, traces):
    content = json.loads(text)
    content["graph_exec"]["operator"]["56"] = 5
    content["profiler"]["host"]["53"] = None
    content["profiler"]["device"]["53"] = {}
    found = codes(traces, content)
    assert {"entries_malformed", "times_missing"} <= set(found)


def test_dangling_ids_are_counted(text, traces):
    content = json.loads(text)
    content["graph_exec"]["comp_seq"].append("9999")
    content["graph_exec"]["mem_chunk"]["chk36"]["owner_var"] = "8888"
    content["graph_exec"]["var"]["36"]["mem_plan"]["mem_chunk_id"] = "chk7777"
    assert codes(traces, content) == ["ids_dangling"] * 3


@pytest.mark.parametrize("number", ["inf", "nan", 8.5, -7, "1e3", 10**30, True])
def test_invalid_whole_numbers_are_null_and_counted(traces, number):
    text = profile(Opr("1", device={CPU: (0, 0, 1)}, computation=number, memory=4))
    assert "numbers_unread" in codes(traces, text)
    rows = ingest.connect(traces.store.path).sql(
        "SELECT computation_flo, memory_bytes FROM megengine_oprs"
    )
    assert rows.fetchall() == [(None, 4)]


@pytest.mark.parametrize(
    ("times", "kernel_ns"),
    [((1, 2, 4), 2e9), ((1, -1, 4), 3e9), ((1, 0.5, 4), 3e9), ((1, 9, 4), 3e9), ((1, "x", 4), 3e9)],
)
def test_a_kernel_begins_at_kern_if_that_is_between_start_and_end(traces, times, kernel_ns):
    connection = traces.add(profile(Opr("1", device={CPU: times}, host={THREAD: (0, 0, 9)})))
    assert connection.sql("SELECT dur_ns FROM kernels").fetchall() == [(kernel_ns,)]
    is_odd = times[1] in (0.5, 9)
    [(said,)] = connection.sql("SELECT warning_codes FROM sources").fetchall()
    assert ("times_out_of_order" in said) == is_odd


def test_invalid_times_are_kept_as_other_events(traces):
    odd = [("inf", 0, 1), (0, 0, "nan"), (5, 5, 1), (0, 0, 1e300)]
    oprs = [Opr(str(number), device={CPU: times}) for number, times in enumerate(odd)]
    row = source(traces.store, traces.write(profile(*oprs)))
    assert (row["complete"], sum(row["other"].values())) == (0, 4)


def test_a_profile_next_to_a_trace_has_another_rank(samples, store, tmp_path):
    """The trace has steps, and the profile has none."""
    run = tmp_path / "run"
    run.mkdir()
    for name in ("megengine/prof_net3.json", "traces/two_rank_rank0.json.gz"):
        (run / Path(name).name).write_bytes((samples / name).read_bytes())
    store.add(run)
    rows = ingest.connect(store.path).sql("SELECT kind, rank FROM sources ORDER BY kind")
    assert rows.fetchall() == [("kineto", 0), ("megengine", 1)]


def test_files_of_the_same_rank_need_not_all_have_steps(samples, store, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "net-rank0.json").write_bytes((samples / "megengine" / "prof_net3.json").read_bytes())
    (run / "trace.json.gz").write_bytes(
        (samples / "traces" / "two_rank_rank0.json.gz").read_bytes()
    )
    store.add(run)
    connection = ingest.connect(store.path)
    [(ops,)] = connection.sql("SELECT count(*) FROM ops WHERE tid = 'interpreter'").fetchall()
    assert ops == 42
