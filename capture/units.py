"""Times, sizes and numbers of things in words."""


def duration(ns: float) -> str:
    """A time: `1.23 s`, `12.3 ms`."""
    return f"{ns / 1e9:.3g} s" if ns >= 1e9 else f"{ns / 1e6:.3g} ms"


def size(count: float) -> str:
    """Bytes: `1.5 GiB`, `1.5 MiB`, `12 KiB`."""
    if count >= 1 << 30:
        return f"{count / 2**30:,.1f} GiB"
    return f"{count / 2**20:,.1f} MiB" if count >= 1 << 20 else f"{count / 2**10:,.0f} KiB"


def counted(number: int, what: str) -> str:
    """How many there are of something: `1 step`, `2 steps`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
