"""Damaged profiles of MegEngine: readable entries are kept, and the others are counted."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.events import host
from tests.builders.megengine import CPU, THREAD, Opr, profile
from tests.builders.relations import Run, built
from tests.conftest import Traces
from tests.ingest.formats.conftest import Load, Ranks

NAME = "prof_async"
PIECES = '{}[]",:xyz019\\'
TRACE = {
    "traceEvents": [host("ProfilerStep#1", "user_annotation", 0, 9), host("a", "cpu_op", 1, 2)]
}


@pytest.fixture
def text(samples: Path) -> str:
    """A real profile."""
    return (samples / "megengine" / f"{NAME}.json").read_text()


def test_a_truncated_profile_keeps_entries_before_the_cut(text: str, ranks: Ranks) -> None:
    percents = (4, 9, 17, 26, 33, 48, 61, 77, 90, 99)
    cuts = [text[: len(text) * percent // 100] for percent in percents]
    assert {source.status for source in ranks.add(*cuts)} == {"truncated"}
    oprs = json.loads(text)["profiler"]["host"]
    kept = ranks.rows("SELECT rank, opr_key FROM megengine_oprs WHERE len(host_times) > 0")
    for cut, keys in zip(cuts, kept, strict=True):
        named = [opr for opr in oprs if f'"{opr}": {{"comp_node' in cut]
        assert len(set(keys)) >= len(named) - 1


@pytest.mark.parametrize("content", ['{"profiler": {"host', '{"graph_exec": {"var": 1'])
def test_a_file_without_an_entry_is_one_error(content: str, traces: Traces) -> None:
    padding = " " * 40 + '"opr_footprint": {'
    with pytest.raises(ingest.IngestError, match=r"no operator can be read|not a profiler trace"):
        traces.store.add(traces.write(content + padding))


def test_garbled_bytes_cause_no_traceback(text: str, load: Load) -> None:
    def garbled(seed: int) -> str:
        chance = random.Random(seed)
        characters = list(text)
        for _ in range(4):
            start = chance.randrange(len(text))
            for place in range(start, min(start + 15, len(text))):
                characters[place] = chance.choice(PIECES)
        return "".join(characters)

    for source in load(*map(garbled, range(8))):
        assert source.status == "truncated" or source.warning_codes


SECTIONS = ("host", "device", "opr_footprint", "operator", "var", "mem_chunk", "comp_seq")


def test_a_missing_or_empty_section_is_named(text: str, load: Load) -> None:
    def without(name: str, is_empty: bool) -> Any:
        content = json.loads(text)
        section = content["profiler"] if name in content["profiler"] else content["graph_exec"]
        if is_empty:
            section[name] = type(section[name])()
        else:
            del section[name]
        return content

    cases = [(name, is_empty) for name in SECTIONS for is_empty in (True, False)]
    sources = load(*[without(*case) for case in cases])
    for (name, _), source in zip(cases, sources, strict=True):
        assert source.message("sections_missing") == f"missing or empty sections: {name}"
        assert source.warning_codes.count("sections_missing") == 1


def test_small_damage_is_counted(text: str, ranks: Ranks) -> None:
    odd, dangling = json.loads(text), json.loads(text)
    odd["graph_exec"]["operator"]["56"] = 5
    odd["profiler"]["host"]["53"] = None
    odd["profiler"]["device"]["53"] = {}
    dangling["graph_exec"]["comp_seq"].append("9999")
    dangling["graph_exec"]["mem_chunk"]["chk36"]["owner_var"] = "8888"
    dangling["graph_exec"]["var"]["36"]["mem_plan"]["mem_chunk_id"] = "chk7777"
    of_odd, of_dangling, without_end, with_more = ranks.add(
        odd, dangling, text.rstrip().removesuffix("}"), text + " rest"
    )
    assert {"entries_malformed", "times_missing"} <= set(of_odd.warning_codes)
    assert of_dangling.warning_codes == ["ids_dangling"] * 3
    assert (without_end.status, without_end.complete) == ("truncated", 48)
    assert (with_more.status, with_more.warning_codes) == ("ok", ["bytes_after_end"])


def test_invalid_whole_numbers_are_null_and_counted(ranks: Ranks) -> None:
    numbers = ["inf", "nan", 8.5, -7, "1e3", 10**30, True]
    oprs = [Opr("1", device={CPU: (0, 0, 1)}, computation=each, memory=4) for each in numbers]
    for source in ranks.add(*map(profile, oprs)):
        assert "numbers_unread" in source.warning_codes
    rows = ranks.rows("SELECT rank, computation_flo, memory_bytes FROM megengine_oprs")
    assert rows == [[(None, 4)]] * len(numbers)


def test_a_kernel_begins_at_kern_if_that_is_between_start_and_end(ranks: Ranks) -> None:
    kernels = {  # times in s, and the length of the kernel in ns
        (1, 2, 4): 2e9,
        (1, -1, 4): 3e9,
        (1, 0.5, 4): 3e9,
        (1, 9, 4): 3e9,
        (1, "x", 4): 3e9,
    }
    oprs = [Opr("1", device={CPU: times}, host={THREAD: (0, 0, 9)}) for times in kernels]
    for times, source in zip(kernels, ranks.add(*map(profile, oprs)), strict=True):
        assert ("times_out_of_order" in source.warning_codes) == (times[1] in (0.5, 9))
    rows = ranks.rows("SELECT rank, dur_ns FROM kernels")
    assert rows == [[(dur_ns,)] for dur_ns in kernels.values()]


def test_invalid_times_are_kept_as_other_events(load: Load) -> None:
    odd = [("inf", 0, 1), (0, 0, "nan"), (5, 5, 1), (0, 0, 1e300)]
    oprs = [Opr(str(number), device={CPU: times}) for number, times in enumerate(odd)]
    [source] = load(profile(*oprs))
    assert (source.complete, sum(source.other.values())) == (0, 4)


def test_a_profile_next_to_a_trace_has_another_rank(samples: Path) -> None:
    """The trace has steps, and the profile has none."""
    content = (samples / "megengine" / "prof_net3.json").read_bytes()
    found = built(Run({"net.json": content, "trace_rank0.json": TRACE}))
    rows = found.sql("SELECT kind, rank FROM sources ORDER BY kind").fetchall()
    assert rows == [("kineto", 0), ("megengine", 1)]


def test_files_of_the_same_rank_need_not_all_have_steps(samples: Path) -> None:
    content = (samples / "megengine" / "prof_net3.json").read_bytes()
    found = built(Run({"net-rank0.json": content, "trace-rank0.json": TRACE}))
    rows = found.sql("SELECT count(*) FROM ops WHERE tid = 'interpreter'").fetchall()
    assert rows == [(42,)]
