"""Reading of the graphs that torch prints into its compile log, and of their generated code."""

import ast
import re
from collections.abc import Container, Iterator
from typing import NamedTuple

SOURCE = re.compile(
    r"\s*# File: (?P<file>.*?):(?P<line>\d{1,9}) in (?P<function>.*?), code: (?P<code>.*)"
)
NO_SOURCE = re.compile(r"\s*# No stacktrace found")
NODE = re.compile(r'\s+(?P<node>\w+)(?:: "(?P<shape>[^"]*)")? = (?P<expression>.+)')
PARAMETERS = re.compile(r"\s+def forward\(self, (.*)\):")
PARAMETER = re.compile(r'(\w+): "([^"]*)"')
UNUSED = re.compile(r";  (?:\w+ = )+None$")  # values that are no longer needed are set to None
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
HANDLE = re.compile(
    r"^[ \t]*(?:#|//) \[Provenance debug handles\] (.+):(\d{1,9})[ \t]*$", re.MULTILINE
)
STATEMENT = re.compile(r"^[ \t]+(?:\w+ = )?([A-Za-z_][\w.]*?)(?:\.run)?\(", re.MULTILINE)
AOT_ID = re.compile(r"(?:#|//) AOT ID: \[?'?(\w+)")


class Node(NamedTuple):
    """A node of a printed graph that calls a function or method."""

    ordinal: int
    node: str
    target: str
    shape: str | None
    inputs: list[str]
    filename: str | None
    line: int | None
    function: str | None
    code: str | None


def nodes(text: str) -> Iterator[Node]:
    """Yield the nodes of a graph as `print_readable` writes it, including those of inner graphs.

    A target is the function as printed, without a leading `torch.ops.`: `torch._C._nn.linear`.
    It is `operator.add` for a node printed with a sign, `operator.getitem` for an index, and
    `Tensor.sum` for a method. `inputs` has the type and shape of each positional argument, or an
    empty text if the argument is no tensor.
    """
    source: tuple[str | None, int | None, str | None, str | None] = (None, None, None, None)
    shapes: dict[str, str] = {}
    ordinal = 0
    for line in text.splitlines():
        if found := SOURCE.fullmatch(line):
            source = (found["file"], int(found["line"]), found["function"], found["code"])
        elif NO_SOURCE.match(line):
            source = (None, None, None, None)
        elif found := PARAMETERS.match(line):
            shapes |= {name: _shape(text) for name, text in PARAMETER.findall(found[1])}
        elif found := NODE.fullmatch(line):
            expression = UNUSED.sub("", found["expression"])
            target = _target(expression, shapes)
            shape = found["shape"] and _shape(found["shape"])
            if target:
                ordinal += 1
                inputs = _inputs(expression, shapes)
                yield Node(ordinal, found["node"], target, shape, inputs, *source)
            shapes[found["node"]] = shape or ""


def _shape(text: str) -> str:
    """Return a printed type and shape without strides and device."""
    return STRIDES.sub(r"\1", text)


def _inputs(expression: str, shapes: dict[str, str]) -> list[str]:
    """Return the types and shapes of the positional arguments of a call."""
    try:
        call = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if not isinstance(call, ast.Call):
        return []
    return [
        shapes.get(argument.id, "") if isinstance(argument, ast.Name) else ""
        for argument in call.args
    ]


def _target(expression: str, names: Container[str]) -> str | None:
    """Return the called function, or None if the node only renames or reads an attribute."""
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
    """Return the kernels that generated code calls, by call number, if the code records them."""
    return {int(ordinal): kernel for kernel, ordinal in HANDLE.findall(code)}


def called_functions(code: str) -> list[str]:
    """Return the functions that the statements of generated code call, in order."""
    return STATEMENT.findall(code)


def aot_id(code: str) -> str | None:
    """Return the AOT id of generated code: `0_inference`, `0_forward` or `0_backward`."""
    found = AOT_ID.search(code, 0, 200)
    return found[1] if found else None
