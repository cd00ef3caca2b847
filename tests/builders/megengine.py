"""Profiles in the form of MegEngine's load_and_run. Times are seconds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CPU = 'CompNode("cpu0:0" from "xpux:0")'
GPU = 'CompNode("gpu0:0" from "gpux:0")'
OTHER_GPU = 'CompNode("gpu1:0" from "gpu1:0")'
THREAD = "interpreter"

Times = Mapping[str, Any]  # by comp node or thread: start, first kernel, end


@dataclass
class Opr:
    """An operator of a graph.

    `reads` and `writes` are variables. `waits` are the variables that it waits for, by comp node.
    """

    key: str
    type: str = "Elemwise"
    device: Times = field(default_factory=dict)
    host: Times = field(default_factory=dict)
    name: str = ""
    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    waits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    computation: Any = None
    memory: Any = 0
    shapes: Any = ()
    param: Any = None


def content(
    *oprs: Opr,
    var: Any = None,
    mem_chunk: Any = None,
    layers: Any = None,
    executed: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the content of a profile. Without `executed`, the operators ran in this order."""
    return {
        "profiler": {
            "opr_internal_pf": layers or {},
            "host": {opr.key: _times(opr.host) for opr in oprs if opr.host},
            "opr_footprint": {
                opr.key: {
                    "param": opr.param or {},
                    "out_shapes": opr.shapes,
                    "in_shapes": opr.shapes,
                    "memory": opr.memory,
                    "computation": opr.computation,
                }
                for opr in oprs
            },
            "device": {opr.key: _times(opr.device) for opr in oprs if opr.device},
        },
        "graph_exec": {
            "comp_seq": [opr.key for opr in oprs] if executed is None else executed,
            "mem_chunk": mem_chunk or {},
            "var": var or {key: variable() for opr in oprs for key in (*opr.reads, *opr.writes)},
            "operator": {
                opr.key: {
                    "waiting_spec": {
                        place: {"dev_ready": list(vars_)} for place, vars_ in opr.waits.items()
                    },
                    "output": list(opr.writes),
                    "input": list(opr.reads),
                    "type": opr.type,
                    "name": opr.name or f"{opr.type.lower()}[{opr.key}]",
                    "id": opr.key,
                    "extra": {},
                    "node_type": "operator",
                }
                for opr in oprs
            },
        },
    }


def profile(*oprs: Opr, **more: Any) -> str:
    """Return the text of a profile. `more` are arguments of `content`."""
    return json.dumps(content(*oprs, **more))


def variable(
    comp_node: str = GPU,
    chunk: str | None = None,
    offset: int = 0,
    flag: Sequence[str] = (),
    address: tuple[int, int] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a variable in a chunk, or one with memory from `address[0]` to `address[1]`."""
    start, end = address or (0, 0)
    layout = {"shape": [4], "stride": [1], "dtype": "Float32"}
    return {
        "name": "v",
        "comp_node": comp_node,
        "flag": list(flag),
        "mem_plan": {"mem_chunk_id": chunk, "offset_byte": offset, "layout": layout}
        if chunk
        else None,
        "prev_dev_ptr": start,
        **({"prev_dev_ptr_end": end} if address else {}),
        "node_type": "var",
        **more,
    }


def chunk(size: int, owner: str, address: int) -> dict[str, Any]:
    """Return a chunk of memory, allocated for the variable `owner`."""
    return {"size": size, "owner_var": owner, "dev_ptr": address, "node_type": "mem_chunk"}


def _times(times: Times) -> dict[str, Any]:
    return {
        place: dict(zip(("start", "kern", "end"), time, strict=True))
        if isinstance(time, tuple)
        else time
        for place, time in times.items()
    }
