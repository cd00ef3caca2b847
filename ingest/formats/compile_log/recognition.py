"""Recognising compile logs, by the first lines of their records."""

import re

START = re.compile(rb"[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\]\n]*\] \{")
ANY_START = re.compile(b"^" + START.pattern, re.MULTILINE)
SEARCHED = 1 << 20  # bytes, for a record after damage
HEADER = re.compile(rb"[VDIWEC]\d{4} (\d\d):(\d\d):(\d\d)\.(\d{6}) +(\d+) [^\]]*\] (\{.*\})\s*")


def is_compile_log(head: bytes) -> bool:
    """Whether a file that begins so is a compile log: with a record, or with damage and records.

    Other text may quote a record: after damage, at least half of the lines must be of records.
    """
    if START.match(head):
        return True
    text = head[:SEARCHED]
    return bool(ANY_START.search(text)) and _is_mostly_records(text.split(b"\n"))


def _is_mostly_records(lines: list[bytes]) -> bool:
    """A payload without its record, as after a cut, tells nothing."""
    of_records = others = 0
    in_record = False
    for line in filter(bytes.strip, lines):
        if line.startswith(b"\t"):
            of_records += in_record
        elif HEADER.fullmatch(line):
            in_record = True
            of_records += 1
        else:
            in_record = False
            others += 1
    return 0 < of_records >= others
