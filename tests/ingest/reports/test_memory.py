"""The output of `ingest memory`, compared with sizes computed from the files."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.snapshots import MIB, stack
from tests.helpers.command import Command

TITLE = re.compile(r"In use .*\((\d[\d,]*) bytes\)")
MORE = re.compile(r"… and [\d,]+ more: .*\((\d[\d,]*) bytes")
ROW = re.compile(r"^ .*[BKMGi]  +(\d[\d,]*)   ", re.MULTILINE)


@pytest.fixture
def default_store(memory_store: Path) -> Path:
    """The store that `command` uses."""
    return memory_store


def number(text: str) -> int:
    return int(text.replace(",", ""))


def total(out: str) -> int:
    [found] = TITLE.findall(out)
    return number(found)


@pytest.mark.parametrize(
    ("run", "peak", "after", "end", "reserved", "line"),
    [
        (
            "full_history_annotations",
            1_783_664_516,
            "1.622468",
            1_011_485_828,
            "1.77 GiB",
            ["client.py:176", "reset_model", "477.75", "MiB", "500,957,184", "196", "28.09"],
        ),
        (
            "train_ctx512",
            12_426_629_128,
            "0.050482",
            6_829_260_804,
            "11.79 GiB",
            ["model.py:39", "forward", "2.03", "GiB", "2,179,563,520", "339", "17.54"],
        ),
    ],
)
def test_the_report_shows_the_peak_and_its_owners(
    command: Command, run: str, peak: int, after: str, end: int, reserved: str, line: list[str]
) -> None:
    shown = command("memory", run)
    assert shown.code == 0
    assert all(line.startswith(f"warning: {run}.pickle: ") for line in shown.err.splitlines())
    head = shown.out.splitlines()[1]
    assert f" after {after} s; end " in head
    assert f"; reserved {reserved}" in head
    assert total(shown.out) == peak
    assert "by line of code" in shown.out
    assert line in [row.split() for row in shown.out.splitlines()]
    assert total(command("memory", run, "--at", "end").out) == end


@pytest.mark.parametrize("at", ["peak", "end", "0.02"])
@pytest.mark.parametrize("by", ["frame", "module", "op", "category"])
def test_the_rows_add_up_to_the_memory_in_use(command: Command, by: str, at: str) -> None:
    for run in ("train_ctx512", "full_history_annotations"):
        out = command("memory", run, "--by", by, "--at", at, "--limit", 3).out
        rows = [number(row) for row in ROW.findall(out)]
        more = [number(row) for row in MORE.findall(out)]
        assert 1 <= len(rows) <= 3
        assert len(more) <= 1
        assert sum(rows + more) == total(out)


def test_a_moment_equals_a_replay_of_the_history(command: Command, samples: Path) -> None:
    """The trace begins with no memory in use, so the allocations without a free are in use."""
    path = samples / "snapshots" / "full_history_annotations.pickle"
    events = pickle.loads(path.read_bytes())["device_traces"][0]
    first_us = events[0]["time_us"]
    live: dict[int, int] = {}
    for event in events:
        if event["time_us"] > first_us + 1_500_000:
            break
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"]
        elif event["action"] == "free_completed":
            live.pop(event["addr"], None)
    seconds = command("memory", "full_history", "--at", "1.5").out
    assert total(seconds) == sum(live.values()) > 0
    unix = command("memory", "full_history", "--at", first_us * 1000 + 1_500_000_000).out
    assert unix == seconds
    assert "(the last, at " in command("memory", "full_history", "--at", "1000").out
    assert (
        "before the first action: 0 B"
        in command("memory", "full_history", "--at", first_us * 1000 - 1).out
    )


def test_stacks_are_complete_and_innermost_first(command: Command, samples: Path) -> None:
    path = samples / "snapshots" / "full_history_annotations.pickle"
    events = pickle.loads(path.read_bytes())["device_traces"][0]
    recorded = {
        tuple(f"   {f['filename']}:{f['line']} {f['name']}" for f in event["frames"])
        for event in events
        if event["action"] == "alloc"
    }
    out = command("memory", "full_history", "--by", "stack", "--limit", 1_000).out
    _, *blocks = out.split("\n\n ")
    shown = [tuple(block.rstrip("\n").splitlines()[1:]) for block in blocks]
    assert len(shown) >= 10
    assert set(shown) <= recorded
    assert "by stack" in out
    sums = re.findall(r"^ [\d.]+ [KMG]?i?B  (\d[\d,]*) bytes  ", out, re.MULTILINE)
    assert sum(map(number, sums)) == total(out) == 1_783_664_516


def test_the_default_of_by_depends_on_what_was_recorded(command: Command) -> None:
    trace = command("memory", "h100").out
    assert "by operator" in trace
    assert "aten::_softmax" in trace
    cuda, cpu = trace.split("device cpu")
    assert "device cuda:0" in cuda
    assert "2.52 GiB" in cuda
    assert "aten::empty_strided" in cpu
    timeline = command("memory", "memory_timeline").out
    assert total(timeline) == 3_082_832_104
    assert "by category" in timeline
    assert "ACTIVATION" in timeline
    old = command("memory", "v100").out
    assert "(not followed)" in old
    assert "no addresses were recorded; see memory_by_op for allocations by operator" in old


def test_the_report_at_the_end_shows_fragmentation(command: Command) -> None:
    out = command("memory", "train_ctx512", "--at", "end").out
    assert (
        "Reserved: 11.79 GiB in 400 segments; inactive 5.42 GiB (45.99%), "
        "including stranded 0.98 GiB; rounding 8.44 MiB\n"
    ) in out
    assert "Reserved:" not in command("memory", "train_ctx512").out
    assert "a snapshot without history" in command("memory", "private_pools").out


def test_the_report_of_an_out_of_memory_error(
    command: Command, add_snapshot: Callable[..., Path]
) -> None:
    """At the error, the segment has 256 MiB used, 64 free, 128 used and 576 free."""
    store = add_snapshot(
        [
            {"action": "alloc", "addr": 0, "size": 256 * MIB, "frames": stack("weights")},
            {"action": "alloc", "addr": 256 * MIB, "size": 64 * MIB, "frames": stack("loss")},
            {"action": "alloc", "addr": 320 * MIB, "size": 128 * MIB, "frames": stack("acts")},
            {"action": "free", "addr": 256 * MIB, "size": 64 * MIB},
            {"action": "oom", "size": 2048 * MIB, "device_free": 100, "frames": stack("grow")},
            {"action": "free", "addr": 320 * MIB, "size": 128 * MIB},
        ]
    )
    out = command("memory", "built", "--at", "oom", store=store).out
    assert (
        "Out of memory at action 5 after 0.000004 s: 2.00 GiB requested by model.py:7 grow\n"
        "device free 100 B; reserved 1.00 GiB (allocated 384.00 MiB, free 640.00 MiB, "
        "largest free block 576.00 MiB)\n"
    ) in out
    assert total(out) == 384 * MIB
    lines = [line.split() for line in out.splitlines()]
    assert ["model.py:7", "weights", "256.00", "MiB", "268,435,456", "1", "66.67"] in lines
    assert ["model.py:7", "acts", "128.00", "MiB", "134,217,728", "1", "33.33"] in lines
    assert "loss" not in out
    assert total(command("memory", "built", "--at", "end", store=store).out) == 256 * MIB
    stacks = command("memory", "built", "--at", "oom", "--by", "stack", store=store).out
    assert "   /work/model.py:7 weights\n" in stacks


def test_names_cannot_control_the_terminal(
    command: Command, add_snapshot: Callable[..., Path]
) -> None:
    bad = stack("\x1b[2Jhidden\u202e\n")
    store = add_snapshot([{"action": "alloc", "addr": 0, "size": MIB, "frames": bad}])
    for by in ("frame", "stack"):
        out = command("memory", "built", "--by", by, store=store).out
        assert r"\x1b[2Jhidden\u202e\n" in out
        assert "\x1b" not in out
        assert "\u202e" not in out


@pytest.mark.parametrize(
    "at", ["middle", "-1", "nan", "inf", "1e3", "", "1.2.3", "٣", " 1", "9" * 50]
)
def test_the_error_for_an_invalid_moment_lists_the_accepted_forms(
    command: Command, at: str
) -> None:
    shown = command("memory", "train_ctx512", f"--at={at}")
    assert (shown.code, shown.out) == (2, "")
    message = " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown.err).split())
    assert "Invalid value for '--at'" in message
    assert "use peak, end, oom, seconds after the first action (1.25) or Unix" in message


def test_missing_data_is_an_error(command: Command) -> None:
    nothing = command("memory", "cpu_only")
    assert (nothing.code, nothing.out) == (1, "")
    assert re.fullmatch(
        r"error: cpu_only-\w+: no memory was recorded; profile with profile_memory=True, or add a "
        r"snapshot of torch\.cuda\.memory\._dump_snapshot\(\)\n",
        nothing.err,
    )
    no_error = command("memory", "train_ctx512", "--at", "oom")
    assert (no_error.code, no_error.out) == (1, "")
    assert no_error.err.endswith(": no out-of-memory error was recorded\n")
    no_times = command("memory", "private_pools", "--at", "1")
    assert no_times.code == 1
    assert "the snapshot has no history; use peak, end or oom" in no_times.err
    assert command("memory", "no_such_run").code == 1
