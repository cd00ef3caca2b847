"""A store without samples: the recordings in this repository, and small files of devices."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import ingest
from ingest.store.lake.push import push
from tests.builders.device import training
from tests.builders.events import op
from tests.builders.megengine import GPU, OTHER_GPU, THREAD, Opr, chunk, profile, variable
from tests.builders.snapshots import MIB, stack
from tests.builders.snapshots import snapshot as snapshot_of

RECORDINGS = Path(__file__).parents[1] / "recordings"
EAGER, COMPILED, TWO_RANKS = "eager", "compiled", "two_ranks"
DEVICE, SNAPSHOT, NETWORK = "device", "snapshot", "network"


def add_recordings(store: ingest.Store, directory: Path) -> None:
    """Add the runs to a store. `directory` gets the files that are made."""
    directory.mkdir(exist_ok=True)
    device, snapshot, network = (
        directory / name for name in ("device.json", "snapshot.pickle", "network.json")
    )
    device.write_text(json.dumps({"traceEvents": training()}))
    snapshot.write_bytes(pickle.dumps(_snapshot()))
    network.write_text(_network())
    recorded = (RECORDINGS / run for run in (EAGER, COMPILED, TWO_RANKS))
    names = (EAGER, COMPILED, TWO_RANKS, DEVICE, SNAPSHOT, NETWORK)
    for name, file in zip(names, (*recorded, device, snapshot, network), strict=True):
        store.add(file, ingest.AddOptions(name=name))


def copy_small_runs(recorded: Path, path: Path, directory: Path) -> None:
    """Copy the store `recorded` without its large runs, and add two traces in `directory`."""
    shutil.copytree(recorded, path, symlinks=True)
    store = ingest.Store(path)
    store.remove(*map(store.find, (EAGER, COMPILED, TWO_RANKS)))
    for name in ("first", "second"):
        trace = directory / f"{name}.json"
        trace.write_text(json.dumps({"traceEvents": [op(name, 0, 10)]}))
        store.add(trace)


def push_small_runs(store: ingest.Store, url: str) -> None:
    """Push three runs of the store, each as a batch."""
    for name in (DEVICE, NETWORK, SNAPSHOT):
        list(push(store, url, [store.find(name)]))


def _snapshot() -> dict[str, Any]:
    forward, backward = stack("linear", "forward", "train"), stack("backward", "train")
    actions = [
        {"action": "alloc", "addr": 0, "size": MIB, "frames": forward},
        {"action": "alloc", "addr": 2 * MIB, "size": MIB, "frames": backward},
        {"action": "free", "addr": 0, "size": MIB, "frames": backward},
        {"action": "alloc", "addr": 4 * MIB, "size": 2 * MIB, "frames": forward},
        {"action": "oom", "size": 10**11, "device_free": MIB, "frames": forward},
    ]
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"}
    return snapshot_of(actions, allocator_settings=settings)


def _network() -> str:
    writer = Opr("0", device={OTHER_GPU: (0, 0, 1)}, host={THREAD: (0, 0, 1)}, writes=["x"])
    reader = Opr("1", device={GPU: (0, 2, 3)}, reads=["x"], waits={GPU: ["x"]}, writes=["y"])
    var = {name: variable(GPU, f"chunk of {name}") for name in "xy"}
    chunks = {f"chunk of {name}": chunk(16, name, 16 * place) for place, name in enumerate("xy", 1)}
    return profile(writer, reader, var=var, mem_chunk=chunks)
