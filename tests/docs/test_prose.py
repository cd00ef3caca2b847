"""Phrases that are hard to read and must not come back.

They have an inverted order, lack a subject, or use a vague word instead of the field's term. The
docs of Python or DuckDB would say *distinguishes* for `tells apart`, *without* for `of which
nothing`, *N steps* for `so many steps`, and *an interval* for `a stretch of time`.
"""

import re
from pathlib import Path

import pytest

from docs.generate.pages import REPOSITORY

FORBIDDEN = """
a word where|after the first so many|and none else|and whatever else|are told apart
as far as they lie|as it is called|as it was asked for|as the command has it|as the file has it
as the trace has|as they stand in|as torch has it|asked for by|asks only where|at hand of the
at which it ends|be told apart|before any meaning is given|beyond so many|by the stretch
can be told apart|cost only themselves|cost themselves|costs itself|costs no other
costs only itself|could not be read whole|drawn anew|failing that|failing those|from here on
from the start on|from there on|from which on|gets to know|had been waiting for it|has no use for
how much of the memory|in a quick hour|in each of a number of|in so many|in the stretch
in the way of|in this stretch|in today's names|in torch's words|innermost such|is no call
is no condition|is no event|is no file|is no json|is no number|is no operator|is no pair
is no record|is no setting|is no step|is no store|is no trace|is no trifle|is said on
is said so|is seldom met|is told by|is told from|it judges nothing|lay idle|looked at for
made anew|makes up operators|names that mean harm|no such thing as|none where they are
nothing stands out|nothing waits within|of one's own|of those that are known|of use there
of which nothing|on the spot|on their way into|only where there is|place of the call
place of the op|puts it in words|runs fit|said in one line|said to be|said to stand|says no rank
says so where|so many distinct|so many events|so many steps|so many times|so many workers
stand against|stand beside|stands against|stands elsewhere|stands for it|stands for them|stands in
stands there|stay as it is|stretch of time|stretches of time|such as are|take a filter away
taken for metadata|tell of|tells apart|tells of|ten times over|that cannot be had
that is not so written|that of which|that was asked for|that were asked for|the better part of
the way out|those first that say|told from chance|was asked for|were asked for|what became of
what cannot be had|what could not be had|what is asked for|what is known of|what is odd about
what is there of|what it is about|what it moved|what spoils|what stands|what there is of
what to heed|what was asked for|what was odd|where figures differ|where it lies
where there are none|where there is none|where they lie|which so many|whom the|whose they are
with a word on
"""
ALTERNATIVES = "|".join(
    re.escape(phrase) for phrase in FORBIDDEN.strip().replace("\n", "|").split("|")
)
PHRASE = re.compile(rf"(?<!there )\b({ALTERNATIVES})\b", re.IGNORECASE)
# A line break in a text, with the marker of a comment or the quotes of a string.
BREAK = re.compile(r"\s*\n\s*(?:(?:--|#|//|\*) )?\s*|[\"']\s*\n\s*(?:\|\| )?f?[\"']")
SUFFIXES = {".css", ".html", ".js", ".md", ".py", ".sql", ".toml", ".yml"}
FOLDERS = ["benchmarks", "capture", "dashboard", "docs", "examples", "ingest", "tests"]


def texts(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that hold prose, without this one."""
    found = [path for path in folder.glob(pattern) if path.suffix in SUFFIXES]
    return [path for path in found if path != Path(__file__)]


@pytest.mark.parametrize("folder", [".", *FOLDERS])
def test_no_text_has_a_forbidden_phrase(folder: str) -> None:
    found = []
    for path in texts(REPOSITORY / folder, "*" if folder == "." else "**/*"):
        text = BREAK.sub(" ", path.read_text(encoding="utf-8"))
        for match in PHRASE.finditer(text):
            around = text[max(0, match.start() - 40) : match.end() + 40]
            found.append(f"{path.relative_to(REPOSITORY)}: {around}")
    assert not found, "\n".join(found)
