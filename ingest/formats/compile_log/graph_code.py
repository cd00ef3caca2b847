"""Reading the graphs that torch prints into its compile log, and the code made of them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

PLACE = re.compile(
    r"\s*# File: (?P<file>.*?):(?P<line>\d{1,9}) in (?P<function>.*?), code: (?P<code>.*)"
)
NO_PLACE = re.compile(r"\s*# No stacktrace found")
NODE = re.compile(r'\s+(?P<node>\w+)(?:: "(?P<shape>[^"]*)")? = (?P<expression>.+)')
UNUSED = re.compile(r";  (?:\w+ = )+None$")  # what is not needed any more is set to None
CALL = re.compile(r"(?P<target>[A-Za-z_][\w.]*)\(")
INDEXED = re.compile(r"\w+\[")
INFIX = re.compile(
    r"-?[\w.()\[\]]+(?:(?<=e)[-+]\d+)? (?P<sign>\*\*|//|<<|>>|[<>=!]=|[-+*/%@&|^<>]) \S"
)
STRIDES = re.compile(r"(\[[^\]]*\])\[[^\]]*\].*")
SIGNS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "&": "and_", "|": "or_", "^": "xor", "<<": "lshift", ">>": "rshift",
    "<": "lt", ">": "gt", "<=": "le", ">=": "ge", "==": "eq", "!=": "ne",
}  # fmt: skip
HANDLE = re.compile(r"^\s*(?:#|//) \[Provenance debug handles\] (.+):(\d+)\s*$", re.MULTILINE)
AOT_ID = re.compile(r"(?:#|//) AOT ID: \[?'?(\w+)")


class Node(NamedTuple):
    """A node of a printed graph that calls something, in the order of the graph."""

    ordinal: int
    node: str
    target: str
    shape: str | None
    filename: str | None
    line: int | None
    function: str | None
    code: str | None


def nodes(text: str) -> Iterator[Node]:
    """The nodes of a graph as `print_readable` writes it, those of graphs inside it among them.

    A target is `torch._C._nn.linear` as printed, without a leading `torch.ops.`; `operator.add`
    for what is printed with a sign, `operator.getitem` for an index, and `Tensor.sum` for a method.
    """
    place: tuple[str | None, int | None, str | None, str | None] = (None, None, None, None)
    names: set[str] = set()
    ordinal = 0
    for line in text.splitlines():
        if found := PLACE.fullmatch(line):
            place = (found["file"], int(found["line"]), found["function"], found["code"])
        elif NO_PLACE.match(line):
            place = (None, None, None, None)
        elif found := NODE.fullmatch(line):
            target = _target(UNUSED.sub("", found["expression"]), names)
            names.add(found["node"])
            if target:
                ordinal += 1
                shape = found["shape"] and STRIDES.sub(r"\1", found["shape"])
                yield Node(ordinal, found["node"], target, shape, *place)


def _target(expression: str, names: set[str]) -> str | None:
    """What is called; None where a node is but another name, or a part of a module."""
    if found := CALL.match(expression):
        target = found["target"].removeprefix("torch.ops.")
        of, _, method = target.rpartition(".")
        return f"Tensor.{method}" if of in names else target
    if INDEXED.match(expression):
        return "operator.getitem"
    if found := INFIX.match(expression):
        return f"operator.{SIGNS[found['sign']]}"
    return "operator.neg" if expression.startswith("-") else None


def handles(code: str) -> dict[int, str]:
    """The kernels that generated code calls, by the order of the calls, where it says so."""
    return {int(ordinal): kernel for kernel, ordinal in HANDLE.findall(code)}


def aot_id(code: str) -> str | None:
    """`0_inference`, `0_forward`, `0_backward`: what the code was made for."""
    found = AOT_ID.search(code, 0, 200)
    return found[1] if found else None
