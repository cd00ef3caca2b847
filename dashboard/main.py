"""The script that draws the dashboard: navigation, run picker and the current page."""

from functools import partial
from pathlib import Path

import streamlit as st

import ingest
from dashboard import (
    advice,
    bubbles,
    compare,
    data,
    header,
    kernels,
    memory,
    modules,
    operators,
    overview,
    ranks,
    roofline,
    runs,
    sql,
    streams,
    sweeps,
    timeline,
    trends,
)
from dashboard.header import Entry
from dashboard.widgets import offered_run, page_change, run_picker

HERE = Path(__file__).parent
PAGES = {
    "runs": Entry(runs.page, "Runs", "list", "Which runs are in the store, and how fast are they?"),
    "overview": Entry(
        overview.page,
        "Overview",
        "dashboard",
        "How long does a step take, and where does the time go?",
        scope="run",
        steps="median",
    ),
    "operators": Entry(
        operators.page,
        "Operators",
        "bar_chart",
        "Which operators and kernels take the time?",
        scope="runs",
        steps="median",
        has_strip=True,
    ),
    "kernels": Entry(
        kernels.page,
        "Kernels",
        "grid_view",
        "Which kernels take the time, and how well do they fill the device?",
        scope="runs",
        steps="median",
        has_strip=True,
        shows="device_totals",
    ),
    "roofline": Entry(
        roofline.page,
        "Roofline",
        "show_chart",
        "How close do operators come to the limits of the device, and what would reaching them "
        "bring?",
        scope="runs",
        steps="median",
        has_strip=True,
    ),
    "bubbles": Entry(
        bubbles.page,
        "Bubbles",
        "hourglass_empty",
        "When was the device idle, and why?",
        scope="run",
        steps="median",
        has_strip=True,
    ),
    "streams": Entry(
        streams.page,
        "Streams",
        "water",
        "How long were the queues, and what ran at the same time?",
        scope="run",
        steps="median",
        has_strip=True,
        shows="device_totals",
    ),
    "ranks": Entry(
        ranks.page,
        "Ranks",
        "groups",
        "Which rank makes the others wait, how often, and what does it cost?",
        scope="run",
        steps="all",
        shows="rank_clocks",
        is_of_device=False,
    ),
    "timeline": Entry(
        timeline.page,
        "Timeline",
        "view_timeline",
        "What ran when, on each thread and stream?",
        scope="run",
        steps="median",
        has_strip=True,
    ),
    "modules": Entry(
        modules.page,
        "Modules",
        "account_tree",
        "Which nn.Modules take the time and the memory?",
        scope="run",
        steps="median",
        has_strip=True,
        shows="module_tree",
    ),
    "memory": Entry(
        memory.page,
        "Memory",
        "memory_alt",
        "What used the device's memory, and when?",
        scope="runs",
        steps="all",
        has_strip=True,
        shows="memory_peak",
    ),
    "advice": Entry(
        advice.page,
        "Advice",
        "lightbulb",
        "What could make a step faster, and by how much at most?",
        scope="run",
        steps="median",
        has_strip=True,
    ),
    "compare": Entry(
        compare.page,
        "Compare",
        "compare_arrows",
        "What changed from one run to the other, and why?",
    ),
    "sweeps": Entry(
        sweeps.page,
        "Sweeps",
        "tune",
        "Which variant is the fastest, and is its output unchanged?",
    ),
    "trends": Entry(
        trends.page,
        "Trends",
        "timeline",
        "How did the metrics change over time, and at which run?",
    ),
    "sql": Entry(sql.page, "SQL", "terminal", "Query the store with SQL."),
}


def main() -> None:
    """Draw the current page."""
    st.set_page_config(
        page_title="tracehouse",
        page_icon=str(HERE / "icon.svg"),
        layout="wide",
        initial_sidebar_state=270,
    )
    st.html(HERE / "style.css")
    with st.sidebar:  # it takes no space there
        script = (HERE / "history.js").read_text(encoding="utf-8")
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)
    st.logo(str(HERE / "logo.svg"), size="large", icon_image=str(HERE / "icon.svg"))
    home = st.Page(
        lambda: None, title="tracehouse", url_path="home", visibility="hidden", default=True
    )
    pages = {
        name: st.Page(
            partial(_draw, entry),
            title=entry.title,
            url_path=name,
            icon=f":material/{entry.icon}:",
        )
        for name, entry in PAGES.items()
    }
    st.session_state["pages"] = pages
    page = st.navigation([home, *pages.values()], expanded=True)
    page_change.carry_out()
    try:
        run_ids = data.refresh()
    except ingest.IngestError as error:
        st.error(f"Cannot open the store: {error}", icon=":material/error:")
        st.markdown(
            "To open another store, run `streamlit run dashboard/app.py -- --store DIR|URL`."
        )
        return
    if page is home:
        parameters = {key: st.query_params.get_all(key) for key in st.query_params}
        if not parameters and (run := data.run_to_open()):
            parameters = {run_picker.RUN_KEY: [run]}
        target = pages["overview" if run_picker.RUN_KEY in parameters else "runs"]
        st.switch_page(target, query_params=parameters)
    is_new_page = st.session_state.get("url_path") != page.url_path
    st.session_state["url_path"] = page.url_path
    entry = PAGES[page.url_path]
    if is_new_page:
        offered_run.pick(run_ids, None if entry.scope == "store" else entry.shows)
    with st.sidebar:
        st.session_state["runs"] = run_picker.pick_runs(run_ids, is_new_page)
        runs_in = "1 run" if len(run_ids) == 1 else f"{len(run_ids):,} runs"
        st.caption(f"{runs_in} in `{data.place()}`")
    for line in data.faults():
        st.warning(line, icon=":material/heart_broken:")
    run_picker.warn_about_unknown()
    if not run_ids and page is not pages["sql"]:
        nothing_yet()
        return
    page.run()


def _draw(entry: Entry) -> None:
    if view := header.show(entry):
        entry.draw(view)


def nothing_yet() -> None:
    """Explain how to add a run to an empty store."""
    st.title("No runs yet")
    st.markdown("Add a directory of profiler output or a single trace, then reload this page:")
    st.code(f"ingest add run_dir/ --store {data.place()}", language="bash")
    st.markdown("To try it out, record such a directory with `capture flux --tiny --out run_dir`.")


if __name__ == "__main__":
    main()
