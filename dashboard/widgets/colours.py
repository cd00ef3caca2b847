"""One colour for each meaning, on every page, in light and dark.

Chosen by search so that any two differ (CIE76 ≥ 18) for normal sight, protanopia, deuteranopia
and tritanopia, and each shows on white and on Streamlit's dark background. In stacks the order
below holds, busy time first.
"""

PARTS = {
    "compute": "#2A5CD6",
    "communication": "#EB8511",
    "exposed_communication": "#EB8511",
    "copy": "#4B9958",
    "exposed_copy": "#4B9958",
    "bubble": "#9A9A9A",
    "host": "#BB340B",
    "dataloader": "#A15DB9",
    "sync": "#E7C26F",
    "compile": "#61CCF2",
    "dependency": "#6B5478",
    "launch": "#C6C6C6",
    "unknown": "#868686",
    "generated": "#909CFD",
    "overlap": "#7504FA",
    "lead": "#9A9A9A",
    "tail": "#9A9A9A",
}

# What became of an operator from one run to another: less time in greens, more in reds.
CHANGES = {
    "fused": "#0F766E",
    "faster": "#4FAE9F",
    "only_base": "#A5D6CC",
    "same": "#9A9A9A",
    "slower": "#C2334D",
    "only_other": "#E79AA8",
}

HOST = "#2A5CD6"  # host time, where there is no device
RUNS = ("#2A5CD6", "#EB8511", "#4B9958", "#BB340B", "#A15DB9", "#61CCF2", "#6B5478", "#868686")

# Holders of memory, by size at the peak; what is not known of, and all others, in greys.
BANDS = ("#2A5CD6", "#EB8511", "#4B9958", "#A15DB9", "#61CCF2", "#BB340B", "#E7C26F", "#6B5478")
UNKNOWN_BANDS = ("#9A9A9A", "#66707C")
OTHERS = "#C6C6C6"
ALARM = "#E0482E"
STATES = {
    "allocated": "#2A5CD6",
    "pending": "#E7C26F",
    "stranded": "#BB340B",
    "free": "#C6C6C6",
}

LABELS = {
    "compute": "compute",
    "communication": "communication",
    "exposed_communication": "exposed communication",
    "copy": "copy",
    "exposed_copy": "exposed copy",
    "bubble": "bubble (idle)",
    "generated": "generated code",
    "overlap": "overlap",
    "lead": "before the first activity",
    "tail": "after the last activity",
}


def label(part: str) -> str:
    """The name of a part as legends write it; causes of bubbles say that they are idle time."""
    return LABELS.get(part, f"idle: {part}")


def part_of(figure: str) -> str:
    """The part that a figure of `run_diff` is about: `host` of `bubble_host`."""
    return figure.removeprefix("bubble_")


def order(parts: set[str]) -> list[str]:
    """Those of the parts that occur, in the one order."""
    return [part for part in PARTS if part in parts]
