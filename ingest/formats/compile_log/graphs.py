"""The graphs of a compile log: which records are of the same graph, and the rows they give."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.formats.compile_log.graph_code import Node, aot_id, handles, nodes
from ingest.formats.compile_log.reader import Record

PROGRAMS = {"dynamo_output_graph", "before_pre_grad_graph"}
PARTS = {  # in the order in which torch logs them
    "inductor_post_grad_graph": 1,
    "inductor_output_code": 2,
    "inductor_provenance_tracking_node_mappings": 3,
    "inductor_provenance_tracking_kernel_stack_traces": 4,
    "fx_graph_cache_hit": 5,
    "fx_graph_cache_miss": 5,
    "fx_graph_cache_bypass": 5,
}
OF_GRAPHS = PROGRAMS | PARTS.keys()


@dataclass
class Graph:
    """One graph, and the code that was generated for it."""

    ordinal: int
    compile_id: str | None
    attempt: int
    program: list[Node]
    lowered: list[Node] = field(default_factory=list)
    origins: dict[str, list[str]] = field(default_factory=dict)
    kernels: dict[int, str] = field(default_factory=dict)
    aten_nodes: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    stacks: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    key: str | None = None
    aot_id: str | None = None
    last_part: int = 0

    def calls(self) -> Iterator[tuple[int, str, list[str], list[str]]]:
        """The kernel calls: ordinal, kernel, lowered nodes, stacks."""
        for ordinal, kernel in sorted(self.kernels.items()):
            call = (ordinal, kernel)
            yield *call, self.aten_nodes.get(call, []), self.stacks.get(call, [])


class Graphs:
    """Puts the records of graphs together, of each compilation for itself."""

    def __init__(self) -> None:
        self.unreadable = 0
        self._open: dict[str | None, Graph] = {}
        self._programs: dict[str | None, list[Node]] = defaultdict(list)

    def add(self, record: Record) -> Graph | None:
        """Takes a record; returns the graph before, where the record begins another one."""
        if record.name in PROGRAMS:
            self._programs[record.compile_id] = list(nodes(record.payload or ""))
            return None
        part = PARTS[record.name]
        graph, done = self._open.get(record.compile_id), None
        if graph is None or part <= graph.last_part or record.attempt != graph.attempt:
            done = graph
            program = self._programs.pop(record.compile_id, [])
            graph = Graph(record.ordinal, record.compile_id, record.attempt, program)
            self._open[record.compile_id] = graph
        graph.last_part = part
        self._fill(graph, record)
        return done

    def end(self, compile_id: str | None) -> Graph | None:
        """The last graph of a compilation so far, of which nothing more will come."""
        self._programs.pop(compile_id, None)
        return self._open.pop(compile_id, None)

    def rest(self) -> Iterator[Graph]:
        """The last graph of each compilation that did not end."""
        yield from self._open.values()

    def _fill(self, graph: Graph, record: Record) -> None:
        if record.name == "inductor_post_grad_graph":
            graph.lowered = list(nodes(record.payload or ""))
        elif record.name == "inductor_output_code":
            graph.kernels |= handles(record.payload or "")
            graph.aot_id = aot_id(record.payload or "")
        elif (said := record.json()) is None:
            self.unreadable += 1
        elif PARTS[record.name] == 5:
            key = said.get("key")
            graph.key = key if isinstance(key, str) else None
        elif record.name.endswith("node_mappings"):
            graph.aten_nodes = _by_call(said.get("cppCodeToPost"))
            graph.origins = {
                name: list(map(str, origins))
                for name, origins in _items(said.get("postToPre"))
                if isinstance(origins, list)
            }
            graph.kernels |= graph.aten_nodes.keys()
        else:
            graph.stacks = _by_call(said)
            graph.kernels |= graph.stacks.keys()


def _by_call(said: Any) -> dict[tuple[int, str], list[str]]:
    """Texts of each kernel call; its key is `cpp_fused_add_silu_3:12`, the name and the ordinal."""
    calls = {}
    for key, texts in _items(said):
        kernel, _, ordinal = key.rpartition(":")
        if kernel and ordinal.isdecimal() and len(ordinal) < 10 and isinstance(texts, list):
            calls[int(ordinal), kernel] = list(map(str, texts))
    return calls


def _items(said: Any) -> Any:
    return said.items() if isinstance(said, dict) else ()
