"""Functions that read the elements of a page without a browser, and small runs to show."""

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pyarrow as pa

from tests.builders.events import op

MARKS = 4_500  # the most marks that the charts of a page may send


def texts(app) -> str:
    """Return all texts of a page outside tables and charts."""
    elements = [
        *app.title,
        *app.caption,
        *app.markdown,
        *app.info,
        *app.warning,
        *app.error,
        *app.code,
    ]
    return "\n".join(
        [*(str(element.value) for element in elements), *(m.value for m in app.metric)]
    )


def event(category, start, name="a"):
    """Return a complete event of 10 µs."""
    return op(name, start, 10, cat=category, pid=0, tid=7)


def add_cut(traces, name, events):
    """Add a run from a file that ends within its last event."""
    text = json.dumps({"traceEvents": [*events, event("cpu_op", 0)]})
    return traces.store.add(traces.write(text[:-10], name)).run_id


def add_whole(traces, name, events):
    return traces.store.add(traces.write(events, name)).run_id


def charts(app: Any) -> list[pd.DataFrame]:
    """Return the data of each chart. In a layered chart, that is the layer with the most rows."""
    return [
        max((each.to_pandas() for each in data_of(chart)), key=len)
        for chart in app.get("vega_lite_chart")
    ]


def data_of(chart: Any) -> list[pa.Table]:
    """Return the data tables that a chart receives."""
    sent = [chart.proto.data.data, *(dataset.data.data for dataset in chart.proto.datasets)]
    return [pa.ipc.open_stream(each).read_all() for each in sent if each]


def lanes(app: Any) -> list[dict[str, Any]]:
    """Return the data that the lane charts receive."""
    return [json.loads(each.proto.json) for each in _components(app, "tracehouse_lanes")]


def flame_graphs(app: Any) -> list[dict[str, Any]]:
    """Return the data that the flame graphs receive."""
    return [json.loads(each.proto.json) for each in _components(app, "tracehouse_icicle")]


def series_charts(app: Any) -> list[dict[str, Any]]:
    """Return the data that the charts of series receive."""
    return [json.loads(each.proto.json) for each in _components(app, "tracehouse_series")]


def points(chart: dict[str, Any]) -> pd.DataFrame:
    """Return the points of a series: run_id, at (x), value, is_picked, and the tooltip's texts."""
    runs = chart["runs"]
    columns = {"run_id": runs, "at": chart["at"], "value": chart["values"], **chart["details"]}
    return pd.DataFrame(
        {**columns, "is_picked": [at in chart["picked"] for at in range(len(runs))]}
    )


def boxes(chart: dict[str, Any]) -> pd.DataFrame:
    """Return the boxes of a timeline: lane, name, text, start and end (ns), is_faint."""
    found = {"is_faint": False, **chart["boxes"]}
    names = [chart["hoverNames"][index] if index >= 0 else "" for index in chart["details"]["name"]]
    columns = {each: found[each] for each in ("text", "start", "end", "is_faint")}
    return pd.DataFrame(
        {"lane": [chart["lanes"][lane] for lane in found["lane"]], "name": names, **columns}
    )


def schema(app: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the relations that page SQL lists under each heading of the schema."""
    (element,) = _components(app, "tracehouse_schema")
    groups = json.loads(element.proto.json)["groups"]
    return {group["heading"]: group["relations"] for group in groups}


def tables(app: Any) -> list[pd.DataFrame]:
    """Return the tables of a page, with unformatted values and column names."""
    found = []
    for element in _table_elements(app):
        columns = _columns(element)
        found.append(pd.DataFrame({column["name"]: column["values"] for column in columns}))
    return found


def table_columns(app: Any, number: int = 0) -> list[dict[str, Any]]:
    """Return the columns of a table, as its component receives them."""
    return _columns(_table_elements(app)[number])


def _columns(element: Any) -> list[dict[str, Any]]:
    columns: list[dict[str, Any]] = json.loads(element.proto.json)["columns"]
    return columns


def _table_elements(app: Any) -> list[Any]:
    return _components(app, "tracehouse_table")


def frames(app: Any) -> list[str]:
    """Return the addresses of the frames on a page."""
    return [json.loads(each.proto.json)["address"] for each in _components(app, "tracehouse_frame")]


def _components(app: Any, name: str) -> list[Any]:
    return [each for each in app.get("bidi_component") if each.proto.component_name == name]


def ratios(values: Iterable[float]) -> list[float]:
    """Return the values as multiples of the first."""
    found = list(values)
    return [value / found[0] for value in found]


def step_heights(app: Any) -> dict[int, float]:
    """Return the height of each step's bar, the sum of its parts, in percent of the chart."""
    (chart,) = _components(app, "tracehouse_steps")
    return {
        step["number"]: step["height"] * sum(part["percent"] for part in step["parts"]) / 100
        for step in json.loads(chart.proto.json)["steps"]
    }


def table_with(app: Any, column: str) -> pd.DataFrame:
    return next(table for table in tables(app) if column in table)
