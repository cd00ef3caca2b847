"""Arguments of kernels in generated code: what they read and write."""

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ingest.formats.compile_log.graph_code import HANDLE

CPP_PARAMETERS = re.compile(r"void\s+kernel\(([^()]*)\)")
CPP_POINTER = re.compile(r"(?<![\w:])([\w:]+)\*\s*(\w+)")
TRITON_SIGNATURE = re.compile(r"'signature': (\{[^{}]*\})")
TRITON_POINTER = re.compile(r"'(\w+)': '\*(\w+)'")
READ, WRITTEN, CHANGED = "in", "out", "in_out"
ROLE = re.compile(r"(in_out|in|out)_ptr\d+|arg_[A-Z]\w*")  # a template's inputs are `arg_A`
MOST_POINTERS = 300  # of a kernel; each one is searched in its code
LONGEST_CODE = 8 << 20  # bytes; parsed code takes many times its size
# Element types of C++ and Triton, and their names in printed graphs
TYPES = {
    "float": "f32", "double": "f64", "half": "f16", "at::Half": "f16", "bfloat16": "bf16",
    "at::BFloat16": "bf16", "bool": "b8", "int8_t": "i8", "int16_t": "i16", "int32_t": "i32",
    "int64_t": "i64", "uint8_t": "u8", "fp32": "f32", "fp64": "f64", "fp16": "f16", "bf16": "bf16",
    "i1": "b8", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "u8",
    "fp8e4nv": "f8e4m3fn", "fp8e5": "f8e5m2",
}  # fmt: skip


class Parameter(NamedTuple):
    """A pointer among the parameters of a kernel: type of its elements, and what it is for."""

    kind: str
    role: str | None


class Arguments(NamedTuple):
    """Types and shapes of the tensors that a kernel call reads and writes, as graphs print them.

    An entry without a type or shape is unknown.
    """

    reads: list[str]
    writes: list[str]


def arguments(code: str) -> dict[int, Arguments]:
    """Return what the fused kernels in generated code read and write, by the number of the call."""
    try:
        return _found(code) if len(code) <= LONGEST_CODE else {}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _found(code: str) -> dict[int, Arguments]:
    module = ast.parse(code)
    statements = sorted(
        (node for node in ast.walk(module) if isinstance(node, ast.Assign | ast.Expr)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    lines = _Lines(code)
    for statement in statements:
        value = statement.value
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name):
            lines.assign(target.id, value)
        elif target is None and isinstance(value, ast.Call):
            lines.call(value)
    return lines.found


class _Lines:
    """The statements of generated code, in order."""

    def __init__(self, code: str) -> None:
        self.found: dict[int, Arguments] = {}
        # The lines that name the call that follows, and its number, by kernel
        self._handles: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, line in enumerate(code.split("\n"), 1):
            if handle := HANDLE.match(line):
                self._handles[handle[1]].append((number, int(handle[2])))
        self._parameters: dict[str, list[Parameter]] = {}
        self._shapes: dict[str, str] = {}
        self._sources: dict[str, str] = {}  # buffers that share the memory of another one
        self._empty: set[str] = set()  # buffers without content

    def assign(self, name: str, value: ast.expr) -> None:
        """Read an assignment. Code allocates a buffer, views another one or reuses its memory."""
        function = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
        if isinstance(value, ast.Call) and function.startswith("async_compile."):
            self._parameters[name] = _parameters(value)
            return
        self._shapes[name] = self._shape(value)
        if source := _buffer(value):
            self._sources[name] = source
        if source or function.startswith("empty_strided"):
            self._empty.add(name)
        else:
            self._fill(value)

    def call(self, call: ast.Call) -> None:
        """Read the call of a kernel. Its arguments have content afterwards."""
        function = ast.unparse(call.func)
        if function == "assert_size_stride":
            if call.args and isinstance(call.args[0], ast.Name):
                self._shapes[call.args[0].id] = _sizes(*call.args[1:3])
            return
        kernel = function.removesuffix(".run")
        if parameters := self._parameters.get(kernel):
            handles = self._handles[kernel]
            if before := bisect_left(handles, (call.lineno, 0)):
                _, ordinal = handles[before - 1]
                self.found[ordinal] = self._arguments(parameters, call.args)
        self._fill(call)

    def _fill(self, value: ast.expr) -> None:
        """Note that buffers in an expression have content, and those whose memory they share."""
        for name in [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]:
            shared: str | None = name
            while shared in self._empty:
                self._empty.remove(shared)
                shared = self._sources.get(shared)

    def _arguments(self, parameters: list[Parameter], given: list[ast.expr]) -> Arguments:
        reads, writes = [], []
        for (kind, role), argument in zip(parameters, given, strict=False):
            shape = self._shape(argument)
            text = kind + shape if kind and shape else ""
            # A kernel can read a buffer that it wrote before. That is no input.
            if role == CHANGED or (role != WRITTEN and _buffer(argument) not in self._empty):
                reads.append(text if role else "")
            if role != READ:
                writes.append(text if role else "")
        return Arguments(reads, writes)

    def _shape(self, value: ast.expr) -> str:
        """Return the shape of a tensor, such as `[16*s2, 32]`; empty if it is unknown."""
        if isinstance(value, ast.Name):
            return self._shapes.get(value.id, "")
        if not isinstance(value, ast.Call):
            return ""
        function = ast.unparse(value.func)
        if function.startswith("empty_strided"):
            return _sizes(*value.args[:2])
        return _sizes(*value.args[1:3]) if function == "reinterpret_tensor" else ""


def _parameters(definition: ast.Call) -> list[Parameter]:
    """Return the pointers among the parameters of a kernel."""
    text = next((str(a.value) for a in definition.args[1:] if isinstance(a, ast.Constant)), "")
    if found := CPP_PARAMETERS.search(text):
        pointers = CPP_POINTER.findall(found[1])
    elif found := TRITON_SIGNATURE.search(text):
        pointers = [(kind, name) for name, kind in TRITON_POINTER.findall(found[1])]
    else:
        return []
    if len(pointers) > MOST_POINTERS:
        return []
    return [Parameter(TYPES.get(kind, ""), _role(name, text)) for kind, name in pointers]


def _role(name: str, text: str) -> str | None:
    """Return what a kernel does with a parameter; None if its name does not tell."""
    role = ROLE.fullmatch(name)
    if role is None:
        return None
    if role[1] == CHANGED:
        # The memory may be new. Then the kernel begins by writing it.
        names = "|".join([name, *re.findall(rf"auto (\w+) = {name};", text)])
        first_use = re.search(rf"^.*\b({names})( \+|\[).*$", text, re.MULTILINE)
        is_written = first_use and re.match(
            rf"(.*store\(({names})\b| *({names})\[.*\] = )", first_use[0]
        )
        return WRITTEN if is_written else CHANGED
    return role[1] or READ


def _buffer(value: ast.expr) -> str | None:
    """Return the buffer that an expression names or views."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "reinterpret_tensor":
        value = value.args[0] if value.args else value
    return value.id if isinstance(value, ast.Name) else None


def _sizes(*sizes_and_strides: ast.expr) -> str:
    """Return the shape. An axis with a stride of 0 repeats elements, which count once."""
    axes = [part.elts for part in sizes_and_strides if isinstance(part, ast.Tuple)]
    if len(axes) != 2:
        return ""
    return f"[{', '.join(_distinct(*axes))}]"


def _distinct(sizes: list[ast.expr], strides: list[ast.expr]) -> Iterator[str]:
    for size, stride in zip(sizes, strides, strict=False):
        if ast.unparse(stride) != "0":
            yield ast.unparse(size).replace(" ", "")
