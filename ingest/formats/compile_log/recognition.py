"""Recognition of compile logs by the first lines of their records."""

import re

START = re.compile(rb"[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\]\n]*\] \{")
ANY_START = re.compile(b"^" + START.pattern, re.MULTILINE)
SEARCHED = 1 << 20  # bytes searched for a record if the file begins with damage
HEADER = re.compile(rb"[VDIWEC]\d{4} (\d\d):(\d\d):(\d\d)\.(\d{6}) +(\d+) [^\]]*\] (\{.*\})\s*")


def is_compile_log(head: bytes) -> bool:
    """Return whether a file with these first bytes is a compile log.

    A compile log begins with a record, or with damage before the first record. If it begins with
    damage, at least half of its lines must belong to records, because other text may quote a
    record.
    """
    if START.match(head):
        return True
    text = head[:SEARCHED]
    return bool(ANY_START.search(text)) and _is_mostly_records(text.split(b"\n"))


def _is_mostly_records(lines: list[bytes]) -> bool:
    """Return whether at least half of the lines belong to records.

    Lines of a payload whose record is missing are not counted.
    """
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
