"""What the dashboard shows: navigation, the run picker, and the page that was asked for."""

from pathlib import Path

import streamlit as st

import ingest
from dashboard import (
    advice,
    bubbles,
    compare,
    data,
    memory,
    operators,
    overview,
    runs,
    sql,
    trends,
)
from dashboard.widgets import run_picker

HERE = Path(__file__).parent


def main() -> None:
    """Draws one page."""
    st.set_page_config(
        page_title="tracehouse",
        page_icon=str(HERE / "icon.svg"),
        layout="wide",
        initial_sidebar_state=320,
    )
    st.html(HERE / "style.css")
    home = st.Page(
        lambda: None, title="tracehouse", url_path="home", visibility="hidden", default=True
    )
    pages = {
        "runs": st.Page(runs.page, title="Runs", url_path="runs", icon=":material/list:"),
        "overview": st.Page(
            overview.page, title="Overview", url_path="overview", icon=":material/dashboard:"
        ),
        "operators": st.Page(
            operators.page, title="Operators", url_path="operators", icon=":material/bar_chart:"
        ),
        "bubbles": st.Page(
            bubbles.page, title="Bubbles", url_path="bubbles", icon=":material/hourglass_empty:"
        ),
        "memory": st.Page(
            memory.page, title="Memory", url_path="memory", icon=":material/memory_alt:"
        ),
        "advice": st.Page(
            advice.page, title="Advice", url_path="advice", icon=":material/lightbulb:"
        ),
        "compare": st.Page(
            compare.page, title="Compare", url_path="compare", icon=":material/compare_arrows:"
        ),
        "trends": st.Page(
            trends.page, title="Trends", url_path="trends", icon=":material/timeline:"
        ),
        "sql": st.Page(sql.page, title="SQL", url_path="sql", icon=":material/terminal:"),
    }
    st.session_state["pages"] = pages
    page = st.navigation([home, *pages.values()])
    try:
        run_ids = data.look()
    except ingest.IngestError as error:
        st.error(f"No store to show: {error}", icon=":material/error:")
        st.markdown("Name one with `streamlit run dashboard/app.py -- --store DIR`.")
        return
    if page is home:
        asked = {key: st.query_params.get_all(key) for key in st.query_params}
        if not asked and (run := data.run_to_open()):
            asked = {run_picker.RUN_KEY: [run]}
        opened = pages["overview" if run_picker.RUN_KEY in asked else "runs"]
        st.switch_page(opened, query_params=asked)
    with st.sidebar:
        st.session_state["runs"] = run_picker.pick_runs(run_ids)
        runs_in = "1 run" if len(run_ids) == 1 else f"{len(run_ids):,} runs"
        st.caption(f"{runs_in} in `{data.path()}`")
    for line in data.faults():
        st.warning(line, icon=":material/heart_broken:")
    run_picker.say_unknown()
    if not run_ids and page is not pages["sql"]:
        nothing_yet()
        return
    page.run()


def nothing_yet() -> None:
    """What to do with an empty store."""
    st.title("No runs yet")
    st.markdown("Add a directory of profiler output, or a single trace, then reload this page:")
    st.code(f"ingest add run_dir/ --store {data.path()}", language="bash")
    st.markdown("`capture flux --tiny --out run_dir` makes one to try.")
