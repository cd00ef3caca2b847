"""The graphs of a compile log, assembled from the records about each graph."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.formats.compile_log.arguments import Arguments, arguments
from ingest.formats.compile_log.graph_code import Node, aot_id, called_functions, handles, nodes
from ingest.formats.compile_log.reader import Record

PROGRAMS = {"dynamo_output_graph", "before_pre_grad_graph"}
PARTS = {  # in the order in which torch logs them; torch of mid 2025 logs 3 and 4 last
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
    """A graph and the code that was generated for it."""

    ordinal: int
    compile_id: str | None
    attempt: int
    reset: int
    program: list[Node]
    lowered: list[Node] = field(default_factory=list)
    origins: dict[str, list[str]] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)
    kernels: dict[int, str] = field(default_factory=dict)
    arguments: dict[int, Arguments] = field(default_factory=dict)
    aten_nodes: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    stacks: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    key: str | None = None
    aot_id: str | None = None
    last_part: int = 0

    def is_over(self, part: int) -> bool:
        """Return whether this part belongs to another graph."""
        if self.last_part == 5 and part in (3, 4):
            return bool(self.aten_nodes if part == 3 else self.stacks)
        return part <= self.last_part

    def calls(self) -> Iterator[tuple[Any, ...]]:
        """Yield the kernel calls: ordinal, kernel, lowered nodes, stacks, inputs and results."""
        for ordinal, kernel in sorted(self.kernels.items()):
            call = (ordinal, kernel)
            given = self.arguments.get(ordinal, (None, None))
            yield *call, self.aten_nodes.get(call, []), self.stacks.get(call, []), *given


class Graphs:
    """Grouping of the records about graphs, separately for each compilation."""

    def __init__(self) -> None:
        self.unreadable = 0
        self._open: dict[str | None, Graph] = {}
        self._programs: dict[str | None, list[Node]] = defaultdict(list)

    def add(self, record: Record) -> Graph | None:
        """Add a record. If it begins another graph, return the compilation's previous graph."""
        if record.name in PROGRAMS:
            self._programs[record.compile_id] = list(nodes(record.payload or ""))
            return None
        part = PARTS[record.name]
        graph, done = self._open.get(record.compile_id), None
        if graph is None or graph.is_over(part) or record.attempt != graph.attempt:
            done = graph
            program = self._programs.pop(record.compile_id, [])
            graph = Graph(record.ordinal, record.compile_id, record.attempt, record.reset, program)
            self._open[record.compile_id] = graph
        graph.last_part = part
        self._fill(graph, record)
        return done

    def end(self, compile_id: str | None) -> Graph | None:
        """Return the open graph of a compilation that has ended."""
        self._programs.pop(compile_id, None)
        return self._open.pop(compile_id, None)

    def rest(self) -> Iterator[Graph]:
        """Yield the open graph of each compilation that did not end."""
        yield from self._open.values()

    def _fill(self, graph: Graph, record: Record) -> None:
        if record.name == "inductor_post_grad_graph":
            graph.lowered = list(nodes(record.payload or ""))
        elif record.name == "inductor_output_code":
            graph.kernels |= handles(record.payload or "")
            graph.aot_id = aot_id(record.payload or "")
            graph.called = called_functions(record.payload or "")
            graph.arguments = arguments(record.payload or "")
        elif (content := record.json()) is None:
            self.unreadable += 1
        elif PARTS[record.name] == 5:
            key = content.get("key")
            graph.key = key if isinstance(key, str) else None
        elif record.name.endswith("node_mappings"):
            graph.aten_nodes = _by_call(content.get("cppCodeToPost"), graph.called)
            graph.origins = {
                name: list(map(str, origins))
                for name, origins in _items(content.get("postToPre"))
                if isinstance(origins, list)
            }
            graph.kernels |= graph.aten_nodes.keys()
        else:
            graph.stacks = _by_call(content, graph.called)
            graph.kernels |= graph.stacks.keys()


def _by_call(content: Any, called: list[str]) -> dict[tuple[int, str], list[str]]:
    """Return the texts of each kernel call by ordinal and name.

    A key of `content` is `cpp_fused_add_silu_3:12`, the name and the ordinal. Torch of mid 2025
    omits the ordinal. Then the order of the calls in the generated code gives it, and each call of
    a kernel has the texts of all its calls.
    """
    texts_of = {
        key: list(map(str, texts)) for key, texts in _items(content) if isinstance(texts, list)
    }
    calls = {}
    for key, texts in texts_of.items():
        kernel, _, ordinal = key.rpartition(":")
        if kernel and ordinal.isdecimal() and len(ordinal) < 10:
            calls[int(ordinal), kernel] = texts
    if calls:
        return calls
    kernels = (name for name in called if name in texts_of)
    return {(ordinal, name): texts_of[name] for ordinal, name in enumerate(kernels, 1)}


def _items(content: Any) -> Any:
    return content.items() if isinstance(content, dict) else ()
