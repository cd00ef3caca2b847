"""The results of a variant: times, memory, compilations, and its distance from eager."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from capture.sweep.distance import farthest
from capture.sweep.variants import Variant

NO_OTHER = "eager is the base of the comparison; its spread needs a second process (--repeat 2)"


def result(
    tag: str, ordinal: int, variant: Variant, processes: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the value of `sweep` in a variant's run.json, without the distance.

    `ordinal` is the variant's position among all variants, from 1. `processes` has the measurements
    of each process, the first one with a cold compiler cache. A failed process has the key `error`
    with the reason.
    """
    found: dict[str, Any] = {
        "tag": tag,
        "ordinal": ordinal,
        "variant": variant.name,
        "tried": variant.tried,
        "settings": dict(variant.settings),
        "base": variant.base,
    }
    if error := next((each["error"] for each in processes if "error" in each), None):
        return found | {"error": error}
    compiled = [each["compilation"] for each in processes if each["compilation"]]
    peaks = [each["peak_bytes"] for each in processes if each["peak_bytes"]]
    return found | {
        "images": processes[0]["images"],
        "call_times_ns": [each["call_times_ns"] for each in processes],
        "warmup_times_ns": [each["warmup_times_ns"] for each in processes],
        "peak_bytes": max(peaks, default=None),
        "peak_of": processes[0]["peak_of"],
        "compilations": max((len(each["compilations"]) for each in compiled), default=0),
        "recompiles": max((each["recompiles"] for each in compiled), default=0),
        "recompile_reasons": _distinct(
            once["reason"] for each in compiled for once in each["compilations"]
        ),
        "compile_failures": _distinct(
            once["failed"] for each in compiled for once in each["compilations"]
        ),
        "graph_breaks": max((_breaks(each) for each in compiled), default=0),
        "graph_break_reasons": _distinct(
            broken["reason"] for each in compiled for broken in each["graph_breaks"]
        ),
    }


def distance_of(variant: Variant, base: Sequence[Path], own: Sequence[Path]) -> dict[str, Any]:
    """Return the largest distance of the variant's outputs from the base's first output.

    For the base itself, compare its other outputs. See `capture.sweep.distance.distance`.
    """
    others = own[1:] if variant.is_base else own
    if not base:
        return {"missing": f"{variant.base} has no output to compare with"}
    if not others:
        return {"missing": NO_OTHER if variant.is_base else "the variant has no output to compare"}
    return farthest(base[0], others)


def _breaks(compilation: dict[str, Any]) -> int:
    return sum(each["count"] for each in compilation["graph_breaks"])


def _distinct(texts: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))
