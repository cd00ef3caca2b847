"""Numbers of ranks as text."""

from collections.abc import Iterable


def ranges(ranks: Iterable[int], most: int | None = None) -> str:
    """Return ranks as ranges, such as `0–7, 9`. After `most` ranges, say how many ranks follow."""
    found: list[list[int]] = []
    for rank in sorted(ranks):
        if found and rank == found[-1][1] + 1:
            found[-1][1] = rank
        else:
            found.append([rank, rank])
    text = ", ".join(
        f"{first}" if first == last else f"{first}–{last}" for first, last in found[:most]
    )
    rest = sum(last - first + 1 for first, last in found[most:]) if most else 0
    return f"{text} and {rest:,} more" if rest else text
