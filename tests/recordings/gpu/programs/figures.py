"""Prints figures of torch as lines of JSON. Tests compare them with those of the recording."""

import json
import os

import torch

KEYS = {
    "allocated": "allocated_bytes.all.current",
    "peak_allocated": "allocated_bytes.all.peak",
    "requested": "requested_bytes.all.current",
    "peak_requested": "requested_bytes.all.peak",
    "active": "active_bytes.all.current",
    "peak_active": "active_bytes.all.peak",
    "reserved": "reserved_bytes.all.current",
    "peak_reserved": "reserved_bytes.all.peak",
    "inactive_split": "inactive_split_bytes.all.current",
    "segments": "segment.all.current",
    "ooms": "num_ooms",
    "retries": "num_alloc_retries",
}


def figures(label: str, **more: object) -> None:
    """Print the state of the allocator."""
    if torch.cuda.is_initialized():
        stats = torch.cuda.memory_stats()
        more |= {key: stats.get(name) for key, name in KEYS.items()}
    print("FIGURES", json.dumps({"label": label, "pid": os.getpid(), **more}), flush=True)


def result(label: str, value: object) -> None:
    """Print a result of the program, which recording must not change."""
    print("RESULT", label, value, flush=True)


def dump(name: str) -> None:
    """Write a snapshot into the directory SNAPSHOTS, if it is set."""
    if directory := os.environ.get("SNAPSHOTS"):
        os.makedirs(directory, exist_ok=True)
        torch.cuda.memory._dump_snapshot(os.path.join(directory, f"{name}.pickle"))


def release() -> None:
    """Print the figures and write a snapshot before and after the cache is emptied."""
    torch.cuda.synchronize()
    figures("before empty_cache")
    dump("before")
    torch.cuda.empty_cache()
    figures("after empty_cache")
    dump("after")
