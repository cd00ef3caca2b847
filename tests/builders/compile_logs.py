"""Builders of small compile logs and traces."""

import json
from typing import Any

from tests.builders.events import Event, host, kernel


def line(record: dict[str, Any], payload: str = "", at: str = "00:00:00.000000") -> str:
    """Return a record of a log. Its payload follows in lines that begin with a tab."""
    text = f"V0101 {at} 1 torch/some.py:1] {json.dumps(record)}\n"
    return text + "".join(f"\t{part}\n" for part in payload.split("\n") if payload)


def of(compile_id: str, record: dict[str, Any], payload: str = "", attempt: int = 0) -> str:
    """Return a record of a compilation."""
    frame, compiled = map(int, compile_id.split("/"))
    position = {"frame_id": frame, "frame_compile_id": compiled, "attempt": attempt}
    return line({**record, **position}, payload)


def artifact(compile_id: str, name: str, payload: str, attempt: int = 0) -> str:
    return of(compile_id, {"artifact": {"name": name, "encoding": "string"}}, payload, attempt)


def event(compile_id: str, kind: str, name: str, at_us: float) -> str:
    payload = json.dumps({"name": name, "ph": kind, "ts": at_us, "tid": 0}, indent=0)
    return of(compile_id, {"chromium_event": {}}, payload)


def graph(compile_id: str, *kernels: str, key: str | None = None, attempt: int = 0) -> str:
    """Return the records of a graph `y = sin(x); z = y + 1`. Its first kernel computes both."""
    program = (
        "class GraphModule(torch.nn.Module):\n"
        '    def forward(self, L_x_: "f32[5][1]cuda:0"):\n'
        "        l_x_ = L_x_\n\n"
        "        # File: /home/me/model.py:3 in forward, code: return x.sin() + 1\n"
        '        y: "f32[5][1]cuda:0" = l_x_.sin();  l_x_ = None\n'
        '        z: "f32[5][1]cuda:0" = y + 1;  y = None\n'
        "        return (z,)"
    )
    lowered = (
        "        # File: /home/me/model.py:3 in forward, code: return x.sin() + 1\n"
        '        sin: "f32[5][1]cuda:0" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None\n'
        '        add: "f32[5][1]cuda:0" = torch.ops.aten.add.Tensor(sin, 1);  sin = None'
    )
    calls = [f"{kernel}:{ordinal}" for ordinal, kernel in enumerate(kernels, 1)]
    nodes = {call: ["sin", "add"] if n == 0 else ["add"] for n, call in enumerate(calls)}
    stack = '  File "/home/me/model.py", line 3, in forward\n    return x.sin() + 1\n'
    provenance = {"cppCodeToPost": nodes, "postToPre": {"sin": ["y"], "add": ["z"]}, "version": 2.0}
    text = artifact(compile_id, "before_pre_grad_graph", program, attempt)
    text += artifact(compile_id, "inductor_post_grad_graph", lowered, attempt)
    text += of(compile_id, {"inductor_output_code": {}}, "# AOT ID: ['0_inference']", attempt)
    name = "inductor_provenance_tracking_{}".format
    text += artifact(compile_id, name("node_mappings"), json.dumps(provenance), attempt)
    stacks = json.dumps({call: [stack] for call in calls})
    text += artifact(compile_id, name("kernel_stack_traces"), stacks, attempt)
    if key:
        text += artifact(compile_id, "fx_graph_cache_miss", json.dumps({"key": key}), attempt)
    return text


def span(name: str, at_us: float, dur_us: float, cat: str = "cpu_op", **args: Any) -> Event:
    if cat == "kernel":
        return kernel(name, at_us, dur_us, **args)
    return host(name, cat, at_us, dur_us, args)


def trace(*events: Event) -> str:
    return json.dumps({"traceEvents": events, "baseTimeNanoseconds": 0})


def call_of_graph(at_us: float, *inside: str, key: str = "None", region: str = "") -> list[Any]:
    """Return the events of a call of a compiled graph with these ops inside, 10 µs each."""
    end_us = 10 * len(inside) + 4
    events = [span(f"## Call CompiledFxGraph {key} ##", at_us, end_us, "user_annotation")]
    events += [span(name, at_us + 2 + 10 * n, 8) for n, name in enumerate(inside)]
    if region:
        events.append(span(f"Torch-Compiled Region: {region}", at_us - 1, end_us + 2))
    return events
