"""Middleware that refuses requests to unknown host names and from pages of other sites."""

import ipaddress
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketClose

LOCAL_NAMES = ("localhost",)
# A name or an IP address, and the port. An IPv6 address is in brackets.
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[\w.-]+)(:\d+)?", re.ASCII)
LONGEST_SHOWN = 200  # characters of a header in a warning

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class SiteGuard:
    """Middleware that answers only requests to known hosts, from this server's own pages.

    Known hosts are localhost, IP addresses, and what `names` returns. A hostile site could point
    its own name at this server, and its pages could then read the answers. `name_hint` is added
    to the message of a refusal.

    Pages of other sites, and of other ports of this machine, may link here, but send no other
    request and open no WebSocket. The origin of a request (`https://name:port`) must be the host
    that it names, or be in what `origins` returns. `origin_hint` is added to the message. Programs
    that are no browsers send no origin. They are answered: they could send any.
    """

    def __init__(
        self,
        app: Any,
        names: Callable[[], Sequence[str]] = tuple,
        origins: Callable[[], Sequence[str]] = tuple,
        name_hint: str = "",
        origin_hint: str = "",
    ) -> None:
        self.app = app
        self.names = names
        self.origins = origins
        self.name_hint = name_hint
        self.origin_hint = origin_hint

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        name = _name_in(host)
        is_socket = scope["type"] == "websocket"
        if not _is_number(name) and name not in {*LOCAL_NAMES, *map(str.lower, self.names())}:
            reason = f"to the host {name or ascii(host[:LONGEST_SHOWN])}. {self.name_hint}"
        elif _is_foreign(headers, {*_origins_of(host), *self.origins()}):
            reason = f"from other sites. {self.origin_hint}"
            if is_socket:  # browsers do not show the answer to it
                origin = ascii(headers.get("origin", "")[:LONGEST_SHOWN])
                warning = f"tracehouse: refused a WebSocket from {origin}. {self.origin_hint}"
                logging.getLogger(__name__).warning(warning.rstrip())
        else:
            await self.app(scope, receive, send)
            return
        text = f"This server does not answer requests {reason}".rstrip()
        refusal = WebSocketClose() if is_socket else PlainTextResponse(text, status_code=403)
        await refusal(scope, receive, send)


class AddedHeaders:
    """Middleware that adds headers to each response that lacks them."""

    def __init__(self, app: Any, headers: Mapping[str, str]) -> None:
        self.app = app
        self.headers = headers

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {key.lower() for key, _ in message["headers"]}
                added = [(k.lower().encode(), v.encode()) for k, v in self.headers.items()]
                message["headers"] = [
                    *message["headers"],
                    *(each for each in added if each[0] not in present),
                ]
            await send(message)

        await self.app(scope, receive, with_headers)


def _name_in(host: str) -> str:
    """Return the name or address in a header Host, without its port. Empty if it has none."""
    matched = HOST.fullmatch(host)
    return matched[1].rstrip(".") if matched else ""


def _is_foreign(headers: Headers, own: set[str]) -> bool:
    """Return whether a page of another origin sent the request. Its links are allowed."""
    if origins := headers.getlist("origin"):
        return not own.issuperset(origins)
    is_from_elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return is_from_elsewhere and headers.get("sec-fetch-mode") != "navigate"


def _origins_of(host: str) -> list[str]:
    """Return the origins of pages at a host. A proxy may serve them by HTTPS.

    Browsers leave out the scheme's usual port. Proxies may add it.
    """
    return [f"http://{host.removesuffix(':80')}", f"https://{host.removesuffix(':443')}"]


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
