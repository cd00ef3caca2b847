"""The opcodes that pickles of plain data seldom have, and the refusal of all others."""

from typing import Any, NoReturn

from ingest.formats.pickle.handover import CONTAINER_BYTES, ITEM_BYTES, ListHandover
from ingest.formats.pickle.opcodes import (  # fmt: skip
    APPEND,
    ARGUMENT_BYTES,
    BINFLOAT,
    BINPUT,
    CONSTANTS,
    DICT,
    EMPTY_TUPLE,
    FRAME,
    GLOBAL,
    INST,
    LIST,
    LONG4,
    LONG_BINPUT,
    OPCODES,
    PROTO,
    SETITEM,
    STACK_GLOBAL,
    TEXT,
    TEXT8,
    TUPLE,
    TUPLE1,
    TUPLE2,
    TUPLE3,
    float64,
    uint32,
    uint64,
)
from ingest.formats.pickle.stream import MARGIN
from ingest.formats.pickle.values import Values, kind

MAX_TEXT_BYTES = 16 << 20
MAX_INTEGER_BYTES = 255


def run_rare(values: Values, lists: ListHandover, op: int, at: int) -> int:
    """Run a rare opcode. Return the position after it."""
    source, state = values.source, values.state
    stack, memo, fail = state.stack, state.memo, source.fail
    start = at - 1
    size = ARGUMENT_BYTES.get(op, 0)
    if op in CONSTANTS:
        stack.append(CONSTANTS[op])
    elif op in (TUPLE1, TUPLE2, TUPLE3):
        count = op - TUPLE1 + 1
        values.require(start, count)
        stack[-count:] = [tuple(stack[-count:])]
        state.held += CONTAINER_BYTES
    elif op == EMPTY_TUPLE:
        stack.append(())
    elif op in (TUPLE, LIST, DICT):
        mark = values.unmark(start, 0)
        if mark == lists.open_at:
            fail(start, f"unexpected {OPCODES[op]} inside {values.key}")
        items = stack[mark:]
        made: Any = {} if op == DICT else tuple(items) if op == TUPLE else items
        if op == DICT:
            values.set(start, made, items)
        stack[mark:] = [made]
        state.held += CONTAINER_BYTES + ITEM_BYTES * len(items)
    elif op == APPEND:
        values.require(start, 2)
        item, target = stack.pop(), stack[-1]
        if type(target) is not list:
            fail(start, f"cannot add an item to {kind(target)}")
        target.append(item)
        state.held += ITEM_BYTES
    elif op == SETITEM:
        values.require(start, 3)
        values.set(start, stack[-3], stack[-2:])
        del stack[-2:]
    elif op in (BINPUT, LONG_BINPUT):
        number = source.data[at] if op == BINPUT else uint32(source.data, at)[0]
        if number != len(memo):
            fail(start, f"a value is memoized under number {number:,}, not {len(memo):,}")
        values.require(start, 1)
        memo.append(stack[-1])
    elif op == BINFLOAT:
        stack.append(float64(source.data, at)[0])
    elif op == PROTO:
        if not 2 <= source.data[at] <= 5:
            fail(start, f"unsupported protocol {source.data[at]}; 2 to 5 are supported")
    elif op == FRAME:
        values.length(start, uint64(source.data, at)[0], source.limit)
    elif op in (TEXT, TEXT8, LONG4):
        length: int = (uint64 if op == TEXT8 else uint32)(source.data, at)[0]
        values.length(start, length, MAX_INTEGER_BYTES if op == LONG4 else MAX_TEXT_BYTES)
        at = values.load(at, size + length)
        source.require(at, size + length)
        raw = source.data[at + size : at + size + length]
        is_text = op != LONG4
        stack.append(values.text(raw) if is_text else int.from_bytes(raw, "little", signed=True))
        return at + size + length
    else:
        _refuse(values, op, start)
    return at + size


def _refuse(values: Values, op: int, start: int) -> NoReturn:
    name = OPCODES.get(op)
    if name is None:
        values.source.fail(start, f"unknown opcode 0x{op:02x}")
    what = ""
    if op in (GLOBAL, INST):
        start = values.load(start, MARGIN)
        named = values.source.data[start + 1 : start + 1 + MARGIN].split(b"\n")[:2]
        what = ".".join(part.decode("utf-8", "replace") for part in named)
    elif op == STACK_GLOBAL:
        what = ".".join(part[:MARGIN] for part in values.state.stack[-2:] if type(part) is str)
    what = f" of {what.encode('unicode_escape').decode()}" if what else ""
    values.source.fail(
        start, f"{name}{what} is not plain data; the file was refused, and none of it was run"
    )
