"""Queue lengths of streams and the bandwidth of copies, over time."""

import pandas as pd

from dashboard.drawing import colours, formatting
from dashboard.widgets import timeline_chart
from dashboard.widgets.timeline import Strips
from dashboard.widgets.view import View
from ingest.server import Query, call

BINS = 240
MAX_STREAMS = 4
QUEUES, COPIES = "queues", "copies"


def _queries(view: View, since_ns: int, until_ns: int) -> dict[str, Query]:
    assert view.device
    arguments = [view.run, view.device.rank, view.device.device, since_ns, until_ns, BINS]
    return {
        QUEUES: call(
            "start_ns, end_ns, stream, length",
            "queue_length_over_time",
            arguments,
            "start_ns, stream",
        ),
        COPIES: call(
            "start_ns, end_ns, copy, gb_per_s",
            "copy_bandwidth_over_time",
            arguments,
            "start_ns, copy",
        ),
    }


def _drawn(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return a strip for each of the streams with the longest queues, and for each kind of copy."""
    longest = frames[QUEUES].groupby("stream")["length"].max().nlargest(MAX_STREAMS)
    strips = {}
    for stream in sorted(longest.index):
        rows = frames[QUEUES][frames[QUEUES]["stream"] == stream]
        texts = [f"stream {stream}: up to {length:,} in the queue" for length in rows["length"]]
        strips[f"queue {stream}"] = timeline_chart.value_strip(
            rows, "length", texts, colours.NEUTRAL
        )
    for copy, rows in frames[COPIES].groupby("copy"):
        texts = [f"{copy}: {formatting.rate(rate)}" for rate in rows["gb_per_s"]]
        name = str(copy).removeprefix("Memcpy ")
        strips[name] = timeline_chart.value_strip(rows, "gb_per_s", texts, colours.of("copy"))
    return strips


STRIPS = Strips(
    "Each queue and each kind of copy has a separate scale. Hover to see values. "
    f"Queues are drawn for up to {MAX_STREAMS} streams, those with the longest queues.",
    _queries,
    _drawn,
)
