"""The opcodes of a pickle that the reader knows: those of plain data, and those that name code."""

import pickletools
import struct

MARK, STOP, PROTO, FRAME = b"(.\x80\x95"
EMPTY_DICT, EMPTY_LIST, EMPTY_TUPLE, DICT, LIST, TUPLE = b"}])dlt"
TUPLE1, TUPLE2, TUPLE3, APPEND, APPENDS, SETITEM, SETITEMS = b"\x85\x86\x87aesu"
NONE, TRUE, FALSE, BININT, BININT1, BININT2, LONG1, LONG4, BINFLOAT = b"N\x88\x89JKM\x8a\x8bG"
SHORT_TEXT, TEXT, TEXT8 = b"\x8cX\x8d"
MEMOIZE, BINPUT, LONG_BINPUT, BINGET, LONG_BINGET = b"\x94qrhj"
GLOBAL, INST, STACK_GLOBAL = b"ci\x93"  # refused: they name code
ARGUMENT_BYTES = {
    PROTO: 1, FRAME: 8, BININT: 4, BININT1: 1, BININT2: 2, LONG1: 1, LONG4: 4, BINFLOAT: 8,
    SHORT_TEXT: 1, TEXT: 4, TEXT8: 8, BINPUT: 1, LONG_BINPUT: 4, BINGET: 1, LONG_BINGET: 4,
}  # fmt: skip
CONSTANTS = {NONE: None, TRUE: True, FALSE: False}
OPCODES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}

uint16 = struct.Struct("<H").unpack_from
int32 = struct.Struct("<i").unpack_from
uint32 = struct.Struct("<I").unpack_from
uint64 = struct.Struct("<Q").unpack_from
float64 = struct.Struct(">d").unpack_from
