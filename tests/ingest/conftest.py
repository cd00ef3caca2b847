"""A store of memory snapshots, snapshots built in a test, and the command on either."""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ingest
from ingest.cli import main

GIB, MIB = 1 << 30, 1 << 20
BASE = 1 << 40  # an address
FIRST_US = 1_700_000_000_000_000

Call = Callable[..., SimpleNamespace]


@pytest.fixture(scope="session")
def memory_store(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with each sample snapshot as a run of its name, two traces and a timeline."""
    store = ingest.Store(tmp_path_factory.mktemp("memory") / "store")
    traces = ["h100_owlv2", "v100_resnet50_workers0.pt.trace", "memory_timeline.raw", "cpu_only"]
    for path in sorted((samples / "snapshots").glob("*.pickle")):
        store.add(path)
    for name in traces:
        store.add(samples / "traces" / f"{name}.json.gz")
    return store.path


@pytest.fixture
def command(
    memory_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """`ingest …` on the store of snapshots, or on another one: its code, out and err."""

    def call(*arguments: object, store: Path = memory_store) -> SimpleNamespace:
        monkeypatch.setenv("TRACEHOUSE_STORE", str(store))
        monkeypatch.setattr(sys, "argv", ["ingest", *map(str, arguments)])
        code = 0
        try:
            main.main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=captured.err)

    return call


def stack(*names: str) -> list[dict[str, Any]]:
    """Frames, innermost first, of functions in the user's model.py."""
    return [{"name": name, "filename": "/work/model.py", "line": 7} for name in names]


def snapshot(*devices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A snapshot of one 1 GiB segment a device, which is there from the start.

    Actions are `alloc` and `free` (at `addr`, an offset), or `oom`; a microsecond apart.
    """
    segments, traces = [], []
    for device, actions in enumerate(devices):
        trace: list[dict[str, Any]] = []
        live: dict[int, dict[str, Any]] = {}
        for place, action in enumerate(actions):
            event = {"stream": 0, "time_us": FIRST_US + place, "frames": [], **action}
            if "addr" in event:
                event["addr"] += BASE
            if event["action"] == "free":
                live.pop(event["addr"])
                trace += [
                    {**event, "action": f"free_{what}"} for what in ("requested", "completed")
                ]
                continue
            if event["action"] == "alloc":
                live[event["addr"]] = event
            trace.append(event)
        blocks, at = [], BASE
        for address, event in sorted(live.items()):
            blocks.append(_block(at, address - at, 0, []))
            blocks.append(_block(address, event["size"], event["size"], event["frames"]))
            at = address + event["size"]
        blocks.append(_block(at, BASE + GIB - at, 0, []))
        active = sum(event["size"] for event in live.values())
        segment = {
            "device": device,
            "address": BASE,
            "total_size": GIB,
            "allocated_size": active,
            "active_size": active,
            "requested_size": active,
            "stream": 0,
            "segment_type": "large",
            "segment_pool_id": (0, 0),
            "is_expandable": False,
            "frames": [],
            "blocks": [block for block in blocks if block["size"]],
        }
        segments.append(segment)
        traces.append(trace)
    return {"segments": segments, "device_traces": traces, "allocator_settings": {}, **more}


def _block(address: int, size: int, requested: int, frames: list[Any]) -> dict[str, Any]:
    state = "active_allocated" if requested else "inactive"
    return {
        "address": address,
        "size": size,
        "requested_size": requested,
        "state": state,
        "frames": frames,
    }


@pytest.fixture
def add_snapshot(tmp_path: Path) -> Callable[..., Path]:
    """Adds a snapshot of the devices' actions as a run `built`; returns its store."""

    def add(*devices: list[dict[str, Any]], **more: Any) -> Path:
        path = tmp_path / "built.pickle"
        path.write_bytes(pickle.dumps(snapshot(*devices, **more), protocol=4))
        store = ingest.Store(tmp_path / "built_store")
        store.add(path)
        return store.path

    return add


@pytest.fixture
def frames() -> Callable[..., list[dict[str, Any]]]:
    """Stacks for actions of built snapshots."""
    return stack
