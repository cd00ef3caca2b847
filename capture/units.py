"""Times, sizes, rates and counts as text."""


def duration(ns: float) -> str:
    """Return a time as text: `1.23 s`, `12.3 ms`."""
    return f"{ns / 1e9:.3g} s" if ns >= 999.5e6 else f"{ns / 1e6:.3g} ms"


def size(count: float) -> str:
    """Return a number of bytes as text: `1.5 GiB`, `1.5 MiB`, `12 KiB`."""
    if count >= 1 << 30:
        return f"{count / 2**30:,.1f} GiB"
    return f"{count / 2**20:,.1f} MiB" if count >= 1 << 20 else f"{count / 2**10:,.0f} KiB"


def rate(per_s: float, unit: str) -> str:
    """Return a number per second with its unit, such as `B/s`, as text: `1.5 GB/s`."""
    for prefix, factor in (("P", 1e15), ("T", 1e12), ("G", 1e9)):
        if per_s >= factor:
            return f"{per_s / factor:.1f} {prefix}{unit}"
    return f"{per_s / 1e6:.1f} M{unit}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 step`, `2 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
