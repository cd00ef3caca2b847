"""A flame graph with a search, and a table of what took the time or memory in the box looked at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import charts, colours, formatting, icicle, tables
from dashboard.query import Query, Scalar, select
from dashboard.widgets import menu, run_picker

BOX, METRIC, THREAD = "box", "flame", "thread"  # in the address
SEARCH = "find"
MOST_ROWS = 200
ALL = "all"  # in the address, in place of a box
FEW = 5  # boxes around all others, of which none is left out
ALIKE = 0.01  # of a box' width: what is less does not divide it
ALL_THREADS = "all threads"
HELP = (
    "Each box is a call, as wide as what it took with all calls inside it, which stand below it. "
    "Click a box to look into it."
)
KINDS = {
    "module": "nn.Module",
    "python_function": "Python",
    "cpu_op": "operator",
    "user_annotation": "annotation",
    "cuda_runtime": "runtime call",
    "kernel": "kernel, copy or set",
}


@dataclass(frozen=True)
class Metric:
    """A column of `call_stacks`, the label of the choice, and how its values are written."""

    column: str
    label: str

    @property
    def written(self) -> Callable[[float], str]:
        """How values are written."""
        return written_of(self.column)


def written_of(column: str) -> Callable[[float], str]:
    """How values of a column are written: times or sizes."""
    return formatting.size if column.endswith("_bytes") else formatting.duration


METRICS = (
    Metric("self_device_ns", "device time"),
    Metric("self_ns", "host time"),
    Metric("self_idle_ns", "idle time ended"),
    Metric("self_device_bytes", "device memory"),
    Metric("self_cpu_bytes", "host memory"),
)


@st.fragment
def of_run(
    run: str, rank: int, bounds: Sequence[Scalar], *, module_id: int | None, name: str, files: str
) -> None:
    """What the steps of a run took, from Python frames down to kernels; of a module where given."""
    where: dict[str, Any] = {"rank": rank}
    if module_id is not None:
        inside = select(
            "module_id",
            "module_tree",
            {"run_id": run, f"list_contains(around, {int(module_id)})": True},
        )
        where[f"module_id IN ({inside.inlined()})"] = True
    in_steps = f"in_steps(step, {', '.join(map(ingest.literal, bounds))})"
    sums = ", ".join(
        f"sum(greatest({metric.column}, 0)) FILTER ({in_steps}) AS {metric.column}"
        for metric in METRICS
    )
    threads = data.rows(
        select(
            f"pid, tid, {sums}",
            "call_stacks",
            where,
            arguments=[run],
            group_by="pid, tid",
            order_by="self_ns DESC, pid, tid",
        )
    )
    metrics = {each.label: each for each in METRICS if threads[each.column].sum() > 0}
    heading = menu.heading_line("Flame graph", help=HELP)
    if not metrics:
        st.caption("No call took any time in these steps.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric = pick(metrics)
        thread = _thread(threads, metric)
        search = run_picker.search("find a name", SEARCH)
    if thread:
        where |= dict(zip(("pid", "tid"), thread, strict=True))
    calls = select(
        "id, any_value(caller_id) AS caller_id, min(name) AS name, "
        "if(is_module(min(name)), 'module', any_value(category)) AS category, "
        f"sum({metric.column}) FILTER ({in_steps}) AS value, NULL::BIGINT AS base_value",
        "call_stacks",
        where,
        arguments=[run],
        group_by="id",
    )
    show(calls, metric.column, search, heading, name=name, files=files)


def pick(metrics: Mapping[str, Metric]) -> Metric:
    """What the graph counts, of these by label; at first the first."""
    first = next(iter(metrics))
    if st.session_state.get(METRIC) not in metrics:
        st.session_state.pop(METRIC, None)
    chosen = st.segmented_control(
        "By",
        list(metrics),
        default=first,
        required=True,
        key=METRIC,
        bind="query-params",
        label_visibility="collapsed",
    )
    return metrics.get(str(chosen)) or metrics[first]


def _thread(threads: Any, metric: Metric) -> tuple[str, str] | None:
    """One of several threads, for that is asked where there is a choice."""
    busy = threads[(threads[metric.column] > 0) & threads["pid"].notna()]
    if len(busy) < 2:
        return None
    choices = {
        f"thread {row.tid} of process {row.pid}": (str(row.pid), str(row.tid))
        for row in busy.itertuples()
    }
    options = [ALL_THREADS, *choices]
    if st.session_state.get(THREAD) not in options:
        st.session_state.pop(THREAD, None)
    chosen = st.selectbox(
        "Thread",
        options,
        key=THREAD,
        bind="query-params",
        width=260,
        label_visibility="collapsed",
    )
    return choices.get(str(chosen))


def show(
    calls: Query,
    column: str,
    search: str,
    heading: Any,
    *,
    name: str,
    files: str,
    is_compared: bool = False,
    words: tuple[str, str] = ("", ""),
) -> None:
    """The graph of calls, which `flame_graph` reads, and the names in it that took most.

    `column` tells the unit of values by its ending. `words` are what the two runs are called.
    """
    written = written_of(column)
    box = _box(calls)
    query = _select("*", calls, box, order_by="height DESC NULLS LAST, id")
    boxes = data.rows(query)
    if boxes.empty:
        st.caption("Nothing was recorded here.")
        return
    if is_compared:
        first, second = (f"**{formatting.literal(word)}**" for word in words)
        st.caption(
            f"Red took more in {second} than in {first}, blue less. A box is as wide as the larger "
            "of both."
        )
    else:
        kinds = set(boxes["category"].dropna())
        _legend({kind: label for kind, label in KINDS.items() if kind in kinds})
    _way_up(calls, box)
    clicked = icicle.draw(
        boxes,
        written,
        search=search,
        is_compared=is_compared,
        key=f"{name}-{box}-{hash(query.inlined())}",
    )
    if clicked and clicked != box:
        st.query_params[BOX] = clicked
        st.rerun(scope="fragment")
    names = _names(calls, box, column, search, is_compared)
    with heading:
        menu.show({"boxes": query, "names": names}, name, files)
    frame = data.rows(names)
    inside = "" if box is None else " inside the box"
    if frame.empty:
        st.caption(f"Nothing{inside} has **{formatting.literal(search)}** in its name.")
        return
    tables.show(
        frame,
        "flame_graph",
        key=f"{name}-names-{box}-{search}",
        labels={
            "self_ns": "self",
            "self_bytes": "self",
            "base_ns": "before",
            "base_bytes": "before",
        },
        bars=["change_ns" if is_compared else "percent"],
        colours=[colours.NEUTRAL] * len(frame) if is_compared else (),
    )
    said = f"What took the most itself{inside}, by name."
    if len(frame) == MOST_ROWS:
        said += f" The first {MOST_ROWS}: the menu has all."
    if len(boxes) < int(frame["boxes"].sum()):
        said += f" The graph shows the {boxes['id'].count():,} largest boxes."
    st.caption(said)


def _box(calls: Query) -> str | None:
    """The box in the address; else the innermost one that is around all, if many are around it."""
    asked = st.query_params.get(BOX)
    if asked == ALL:
        return None
    if asked and not data.rows(_select("id", calls, asked, most=1)).empty:
        return asked
    boxes = data.rows(_select("id, caller_id, width", calls, None))
    inside = {caller: list(rows.itertuples()) for caller, rows in boxes.groupby("caller_id")}
    (*rest,) = boxes[boxes["caller_id"].isna()].itertuples()
    chain: list[str] = []
    while len(rest) == 1 and not formatting.missing(rest[0].id):
        chain.append(str(rest[0].id))
        rest = [row for row in inside.get(chain[-1], []) if row.width > ALIKE * rest[0].width]
    return chain[-1] if len(chain) > FEW else None


def _legend(kinds: dict[str, str]) -> None:
    charts.legend({label: colours.BOXES[kind] for kind, label in kinds.items()})


def _way_up(calls: Query, box: str | None) -> None:
    """Buttons that lead out of the box that is looked at."""
    if box is None:
        return
    (row,) = data.rows(select("caller_id, name", "calls", {"id": box}, given={"calls": calls}))[
        ["caller_id", "name"]
    ].itertuples()

    def go(to: str) -> None:
        st.query_params[BOX] = to

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("All", on_click=go, args=[ALL], type="tertiary", icon=":material/fit_width:")
        out = ALL if formatting.missing(row.caller_id) else str(row.caller_id)
        st.button(
            "One out", on_click=go, args=[out], type="tertiary", icon=":material/arrow_upward:"
        )
        st.markdown(f"**{formatting.literal(formatting.short_name(str(row.name)))}**")


def _names(calls: Query, box: str | None, column: str, search: str, is_compared: bool) -> Query:
    unit = column.rpartition("_")[2]
    own, base = f"sum(self_value)::BIGINT AS self_{unit}", f"sum(self_base)::BIGINT AS base_{unit}"
    columns = f"name, 100.0 * sum(self_value) / sum(sum(self_value)) OVER () AS percent, {own}"
    if is_compared:
        change = "sum(self_value - self_base)::BIGINT"
        columns = f"name, {base}, {own}, {change} AS change_{unit}"
    every = _select(
        f"{columns}, count(*) AS boxes",
        calls,
        box,
        most=10**9,
        where={"id IS NOT NULL": True},
        group_by="name",
    )
    return select(
        "*",
        "names",
        given={"names": every},
        containing=("name", search),
        order_by=f"abs({'change' if is_compared else 'self'}_{unit}) DESC, name",
        limit=MOST_ROWS,
    )


def _select(columns: str, calls: Query, box: str | None, most: int = 400, **options: Any) -> Query:
    source = f"flame_graph('calls', from_id := {ingest.literal(box)}, most := {most})"
    return select(columns, source, given={"calls": calls}, **options)
