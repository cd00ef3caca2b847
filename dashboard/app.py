"""The dashboard's server. By default, only this machine can reach it.

`streamlit run dashboard/app.py` imports this file. The server runs `main.py` for each page and
serves traces to page Timeline. `.streamlit/config.toml` next to this file sets the address,
whatever the working directory is. The flag `--server.address` and the environment variable
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
from starlette.middleware import Middleware
from streamlit.cli_util import open_browser

import ingest
from dashboard import options
from dashboard.kept_files import KeptFiles
from dashboard.network import is_local
from dashboard.widgets.perfetto import prefix
from ingest import server

EVERYWHERE = ("0.0.0.0", "::")
NAME_HINT = "If the name is yours, set it with --browser.serverAddress."
ORIGIN_HINT = (
    "If a proxy replaces the header Host, name the address that users type with "
    "--server.corsAllowedOrigins."
)
FRAMES = {"Content-Security-Policy": "frame-ancestors 'self'"}


@asynccontextmanager
async def started(_: st.App) -> AsyncIterator[None]:
    """Warn if the network can reach the server, and open the browser.

    Streamlit itself does not open a browser for an `App`.
    """
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
    """Set TCP_NODELAY: send small packets before the browser has acknowledged the previous ones.

    A browser may delay an acknowledgement by 40 ms, and a page loads a hundred small files.
    asyncio sets TCP_NODELAY only if the listening socket names TCP as its protocol, and
    Streamlit's socket does not. Streamlit already listens when this runs, but does not expose the
    socket. Connections inherit the option from it.
    """
    for each in gc.get_objects():
        if type(each) is socket.socket and each.fileno() >= 0:
            is_tcp = each.family in (socket.AF_INET, socket.AF_INET6)
            if is_tcp and each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def notice(address: str, port: int) -> str:
    """Return the warning for a server that listens on an address that is not local."""
    from dashboard import data  # import it here: its caches need a running Streamlit

    at = "any address of this machine" if address in EVERYWHERE else address
    return (
        "tracehouse: the network can reach this server, and it has no password: anyone who can "
        f"reach port {port} at {at} can read all runs in {data.absolute_place()}, also with SQL; "
        "labels cannot be edited"
    )


def trace(parameters: QueryParams) -> server.ShownTrace:
    """Return the trace that a request's query parameters select."""
    from dashboard import data

    return data.trace(parameters)


def names() -> list[str]:
    """Return the host names that browsers may use for this server."""
    options = (st.get_option("server.address"), st.get_option("browser.serverAddress"))
    return [socket.gethostname(), *(str(name) for name in options if name)]


def origins() -> list[str]:
    """Return the origins of pages that may use this server under another host name."""
    return [str(origin).strip() for origin in st.get_option("server.corsAllowedOrigins")]


PAGES = Path(__file__).parent / "main.py"
st.App(PAGES)  # loads .streamlit/config.toml, which `prefix` needs
app = st.App(
    PAGES,
    lifespan=started,
    routes=server.trace_routes(prefix(), trace),
    middleware=[
        Middleware(
            server.SiteGuard,
            names=names,
            origins=origins,
            name_hint=NAME_HINT,
            origin_hint=ORIGIN_HINT,
        ),
        Middleware(server.AddedHeaders, headers=FRAMES),
        Middleware(KeptFiles),
    ],
)
if not st.get_option("server.address"):  # Streamlit would listen on all addresses
    raise SystemExit("tracehouse: --server.address is empty: set an address, such as 127.0.0.1")
if Path(sys.argv[0]).resolve() == Path(__file__).resolve():  # by `streamlit run`
    try:
        options.check()
    except ingest.IngestError as error:
        raise SystemExit(f"tracehouse: {error}") from error
