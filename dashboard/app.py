"""Entry of the dashboard: the server, which answers this machine alone unless told otherwise.

`streamlit run dashboard/app.py` imports this file for the server, which runs `main.py` for each
page, and serves traces to page Timeline. `.streamlit/config.toml` beside this file sets the
address, wherever Streamlit is started. The flag `--server.address` and the environment variable
STREAMLIT_SERVER_ADDRESS override it.
"""

import gc
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.datastructures import QueryParams
from streamlit.cli_util import open_browser

import ingest
from dashboard.network import is_local
from dashboard.widgets.perfetto import prefix

EVERYWHERE = ("0.0.0.0", "::")


@asynccontextmanager
async def started(_: st.App) -> AsyncIterator[None]:
    """Says what is open to whom, and opens the browser, which Streamlit does not for an `App`."""
    send_at_once()
    address, port = st.get_option("server.address"), st.get_option("server.port")
    if not is_local(address):
        print(notice(address, port), file=sys.stderr, flush=True)
    if not st.get_option("server.headless"):
        scheme = "https" if st.get_option("server.sslCertFile") else "http"
        host = "localhost" if address in EVERYWHERE else address
        host = f"[{host}]" if ":" in host else host
        base = st.get_option("server.baseUrlPath").strip("/")
        open_browser(f"{scheme}://{host}:{port}/{base}")
    yield


def send_at_once() -> None:
    """Lets the server send a small packet before the browser has confirmed the last one.

    A browser confirms after 40 ms, and a page needs a hundred small files. asyncio sets TCP_NODELAY
    on the connections of a socket that was made for TCP by name, which Streamlit's is not. By now
    Streamlit listens, keeps the socket to itself, and its connections inherit the option.
    """
    for each in gc.get_objects():
        if type(each) is socket.socket and each.fileno() >= 0:
            is_tcp = each.family in (socket.AF_INET, socket.AF_INET6)
            if is_tcp and each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def notice(address: str, port: int) -> str:
    """What is open to whom where the server listens on an address that is not local."""
    from dashboard import data  # its caches need Streamlit's runtime, which has started by now

    at = "any address of this machine" if address in EVERYWHERE else address
    return (
        f"tracehouse: open to the network, without a password: whoever reaches port {port} at {at} "
        f"can read all runs in {data.path().absolute()}, also with SQL"
    )


def trace(asked: QueryParams) -> ingest.ShownTrace:
    """The trace that a query asks for, of a run in the store."""
    from dashboard import data

    return data.trace(asked)


def names() -> list[str]:
    """What this server is called, by its options."""
    options = (st.get_option("server.address"), st.get_option("browser.serverAddress"))
    return [str(name) for name in options if name]


PAGES = Path(__file__).parent / "main.py"
st.App(PAGES)  # loads the configuration beside the script, which `prefix` needs
app = st.App(PAGES, lifespan=started, routes=ingest.trace_routes(prefix(), trace, names))
if not st.get_option("server.address"):  # Streamlit would listen on all addresses
    raise SystemExit("tracehouse: --server.address is empty: give one, such as 127.0.0.1")
