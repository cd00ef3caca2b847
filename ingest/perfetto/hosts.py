"""Middleware that refuses requests to unknown host names."""

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketClose

LOCAL_NAMES = ("localhost",)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class HostGuard:
    """Middleware that answers only requests to localhost, to IP addresses and to known host names.

    A hostile site could point its own name at this server, and its pages could then read the
    answers. `names` returns the known names. `hint` is added to the message of a refusal.
    """

    def __init__(
        self, app: Any, names: Callable[[], Sequence[str]] = tuple, hint: str = ""
    ) -> None:
        self.app = app
        self.names = names
        self.hint = hint

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            host = Headers(scope=scope).get("host", "").lower()
            name = (parsed(f"//{host}").hostname or "").rstrip(".")
            if not _is_number(name) and name not in {*LOCAL_NAMES, *map(str.lower, self.names())}:
                reason = f"This server does not answer requests to the host {name}. {self.hint}"
                refusal = PlainTextResponse(reason.strip(), status_code=403)
                is_socket = scope["type"] == "websocket"
                await (WebSocketClose() if is_socket else refusal)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def parsed(address: str) -> SplitResult:
    """Split a URL into its parts. An invalid URL counts as empty."""
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
