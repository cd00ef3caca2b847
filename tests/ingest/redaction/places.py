"""Run directories with a text in every field of a profile that can hold one."""

import json
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ingest import AddOptions
from tests.builders import compile_logs, megengine, snapshots
from tests.builders.events import Event, host, kernel, op

Planted = Callable[[str], Iterable[str]]  # returns the texts to put into a field


class Twice(dict[str, Any]):
    """A JSON object of two parts, which may have the same keys."""

    def __init__(self, *parts: dict[str, Any]) -> None:
        # Keys that differ in Python and are written alike.
        super().__init__({Key(key): value for part in parts for key, value in part.items()})


class Key(str):
    """A key that differs from all others."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def frame(args: dict[str, Any]) -> Event:
    """Return a Python frame with arguments."""
    return host("f", "python_function", 1, 1, args)


def instant(args: dict[str, Any], name: str = "i") -> Event:
    """Return an instant event."""
    return {"ph": "i", "name": name, "ts": 1, "pid": 1, "tid": 1, "s": "g", "args": args}


# Each makes events with a text in one field.
EVENTS: dict[str, Callable[[str], Event]] = {
    "operator": lambda text: op(text),
    "kernel": lambda text: kernel(text, 1, 1),
    "runtime call": lambda text: host(text, "cuda_runtime", 1, 1),
    "python frame": lambda text: host(f"train.py(3): {text}", "python_function", 1, 1),
    "python frame's file": lambda text: host(f"{text}.py(3): f", "python_function", 1, 1),
    "annotation": lambda text: host(text, "user_annotation", 1, 1),
    "device annotation": lambda text: kernel(text, 1, 1, "gpu_user_annotation"),
    "category": lambda text: op("a", cat=text),
    "process id": lambda text: op("a", pid=text),
    "thread id": lambda text: op("a", tid=text),
    "argument": lambda text: op("a", args={"value": text}),
    "argument of a python frame": lambda text: host("f", "python_function", 1, 1, {"x": text}),
    "list of a python frame": lambda text: frame({"x": [1, text]}),
    "nested list of a python frame": lambda text: frame({"x": [[[text]]]}),
    "python frame's argument's key": lambda text: frame({text: 1}),
    "python frame's nested key": lambda text: frame({"x": {"y": [{text: []}]}}),
    "key twice": lambda text: op("a", args=Twice({"x": text}, {"x": "y"})),
    "key twice, last": lambda text: op("a", args=Twice({"x": "y"}, {"x": text})),
    "key twice, nested": lambda text: op("a", args={"x": [Twice({"y": [text]}, {"y": 1})]}),
    "key twice of a python frame": lambda text: frame(Twice({"x": text}, {"x": 1})),
    "key twice of a kernel": lambda text: {
        **kernel("k", 1, 1),
        "args": Twice({"stream": 7, "x": text}, {"x": 1}),
    },
    "key twice in a name": lambda text: op(f'{{"a": {json.dumps(text)}, "a": 1}}'),
    "key twice of an instant": lambda text: instant(Twice({"x": text}, {"x": "y"})),
    "key twice next to the arguments": lambda text: Twice(op("a", x=text), {"x": 1}),
    "argument of an instant": lambda text: instant({"x": text}),
    "instant's key": lambda text: instant({text: 1}),
    "argument's key": lambda text: op("a", args={text: 1}),
    "nested argument": lambda text: op("a", args={"inputs": [{"x": ["float", text]}]}),
    "list of arguments": lambda text: op("a", args={"Concrete Inputs": ["", text, "[1, 2]"]}),
    "key next to the arguments": lambda text: op("a", comment=text),
    "instant": lambda text: instant({}, text),
    "counter's key": lambda text: {"ph": "C", "name": "c", "ts": 1, "pid": 1, "args": {text: 1}},
    "flow's id": lambda text: {"ph": "s", "name": "f", "id": text, "ts": 1, "pid": 1, "tid": 1},
    "process name": lambda text: {
        "ph": "M",
        "name": "process_name",
        "pid": 1,
        "args": {"name": text},
    },
    "thread name": lambda text: {
        "ph": "M",
        "name": "thread_name",
        "pid": 1,
        "args": {"name": text},
    },
    "event without a duration": lambda text: {"ph": "X", "name": text, "ts": 1, "pid": 1, "tid": 1},
}
TRACE = {  # next to the events
    "metadata": lambda texts: {"note": texts},
    "metadata's key": lambda texts: {"notes": dict.fromkeys(texts, 1)},
    "distributedInfo": lambda texts: {"distributedInfo": {"rank": 0, "groups": texts}},
    "deviceProperties": lambda texts: {"deviceProperties": [{"id": 0, "name": t} for t in texts]},
}
RUN_JSON = {
    "run.json": lambda texts: {"notes": [{"text": text} for text in texts]},
    "run.json's key": lambda texts: {"keys": dict.fromkeys(texts, 1)},
    "tag of run.json": lambda texts: {"tags": {f"t{n}": text for n, text in enumerate(texts)}},
    "arguments": lambda texts: {"arguments": [part for text in texts for part in ("run.py", text)]},
    "environment": lambda texts: {"environment": {f"V{n}": t for n, t in enumerate(texts)}},
    "compilation": lambda texts: {"compilation": {"graphs": [{"why": text} for text in texts]}},
}
SNAPSHOT = {
    "note": lambda text: {"user_metadata": text},
    "compile context": lambda text: {"compile_context": text},
    "frame's function": lambda text: {"frames": [snapshots.frame(name=text)]},
    "frame's file": lambda text: {"frames": [snapshots.frame(filename=f"/x/{text}.py")]},
    "frame's other keys": lambda text: {"frames": [snapshots.frame(fx_node=text)]},
    "other keys of an action": lambda text: {"novel": {"a": [text]}},
}
OPERATOR = {  # an operator of a MegEngine profile
    "operator's name": lambda text: {"name": text},
    "operator's type": lambda text: {"type": text, "name": "x"},
    "operator's parameter": lambda text: {"param": {"desc": [{"mode": text}]}},
    "operator's parameter's key": lambda text: {"param": {text: 1}},
    "operator's shape": lambda text: {"shapes": [[text]]},
    "thread of the host": lambda text: {"host": {text: (0, 1, 2)}},
    "comp node": lambda text: {"device": {text: (0, 1, 2)}},
}
# A run has only one of each of these.
LABELS = {
    "name": lambda text: AddOptions(name=text),
    "model": lambda text: AddOptions(model=text),
    "mode": lambda text: AddOptions(mode=text),
    "note of the run": lambda text: AddOptions(note=text),
    "tag": lambda text: AddOptions(tags={"note": text}),
    "tag's key": lambda text: AddOptions(tags={text: "1"}),
}
OF_RUN_JSON = ("name", "model", "mode", "framework", "framework_version", "device_name")


def trace(texts: Planted) -> dict[str, Any]:
    """Return the content of a trace."""
    events = [event(text) for field, event in EVENTS.items() for text in texts(field)]
    around: dict[str, Any] = {}
    for field, metadata in TRACE.items():
        around |= metadata(list(texts(field)))
    return {**around, "traceEvents": events}


def snapshot(texts: Planted) -> dict[str, Any]:
    """Return the content of a memory snapshot."""
    actions = [
        snapshots.event("alloc", 4096 * number, 512, **more)
        for number, more in enumerate(
            action(text) for field, action in SNAPSHOT.items() for text in texts(field)
        )
    ]
    marks = [{"name": text, "stage": "START", "device": 0, "time_us": 5} for text in texts("mark")]
    settings = {f"s{number}": text for number, text in enumerate(texts("setting"))}
    return {
        "segments": [],
        "device_traces": [actions],
        "external_annotations": marks,
        "allocator_settings": settings | dict.fromkeys(texts("setting's key"), "1"),
    }


def megengine_profile(texts: Planted) -> str:
    """Return the content of a MegEngine profile."""
    oprs = [
        megengine.Opr(str(number), **make(text))
        for number, (make, text) in enumerate(
            (make, text) for field, make in OPERATOR.items() for text in texts(field)
        )
    ]
    names = [*texts("variable's name"), "v"]
    return megengine.profile(
        *oprs,
        var={str(number): megengine.variable(name=name) for number, name in enumerate(names)},
        layers={"0": [[text, 1] for text in texts("layer")]},
    )


def compile_log(texts: Planted) -> str:
    """Return the content of a compile log."""
    log = ""
    for number, text in enumerate(texts("recompile reason")):
        at = f"{number}/0"
        log += compile_logs.artifact(at, "recompile_reasons", f"{at}: {text}")
    for number, text in enumerate(texts("graph break")):
        log += compile_logs.artifact(f"{number}/0", "dynamo_graph_break_reason", text)
    for number, text in enumerate(texts("compiled code")):
        one_line = text.replace("\n", "\\n")
        log += compile_logs.graph(f"{number}/0", "a_0").replace("return x.sin() + 1", one_line)
    for number, text in enumerate(texts("compiled frame's file")):
        frame = {"co_name": text, "co_filename": f"/home/me/{text}.py"}
        log += compile_logs.of(f"{number}/0", {"compilation_metrics": frame})
    return log


def write_run(directory: Path, texts: Planted) -> Path:
    """Write a run directory with the texts of each field in that field."""
    directory.mkdir()
    (directory / "a.trace.json").write_text(json.dumps(trace(texts)))
    (directory / "a.pickle").write_bytes(pickle.dumps(snapshot(texts)))
    (directory / "a.compile.log").write_text(compile_log(texts))
    (directory / "a.megengine.json").write_text(megengine_profile(texts))
    description: dict[str, Any] = {}
    for field, described in RUN_JSON.items():
        description |= described(list(texts(field)))
    (directory / "run.json").write_text(json.dumps(description))
    for text in filter(is_file_name, texts("file name")):
        (directory / text).write_text("no profile")
    return directory


def is_file_name(text: str) -> bool:
    """Return whether a file can have this name. Hidden files are not part of a run."""
    return "/" not in text and not text.startswith(".") and len(text.encode()) < 250
