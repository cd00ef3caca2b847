"""Middleware that keeps files that never change in memory."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BYTES = 64 << 20  # of all files; Streamlit's scripts have 20 MB


class KeptFiles:
    """Middleware that sends a file from memory if it was sent before and never changes.

    Such a file has `immutable` in its header Cache-Control, as Streamlit's scripts have. A page
    loads a hundred of them while the server computes its content. Read from disk, by a thread,
    each would wait several times until the computing thread pauses.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.kept: dict[str, list[Message]] = {}  # the messages of a response, by path
        self.kept_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_whole = (
            scope["type"] == "http"
            and scope["method"] == "GET"
            and "range" not in Headers(scope=scope)
        )
        if not is_whole:
            await self.app(scope, receive, send)
        elif scope["path"] in self.kept:
            for message in self.kept[scope["path"]]:
                await send(dict(message))
        else:
            await self._send_and_keep(scope, receive, send)

    async def _send_and_keep(self, scope: Scope, receive: Receive, send: Send) -> None:
        messages: list[Message] = []

        async def note(message: Message) -> None:
            if messages or _is_immutable(message):
                messages.append(dict(message))
            await send(message)

        await self.app(scope, receive, note)
        size = sum(len(message.get("body", b"")) for message in messages)
        is_complete = bool(messages) and _is_end(messages[-1])
        if is_complete and self.kept_bytes + size <= MAX_BYTES and scope["path"] not in self.kept:
            self.kept[scope["path"]] = messages
            self.kept_bytes += size


def _is_immutable(start: Message) -> bool:
    """Return whether a response is a whole file that never changes."""
    is_start = start["type"] == "http.response.start"
    headers = Headers(raw=start.get("headers", []))
    return is_start and start["status"] == 200 and "immutable" in headers.get("cache-control", "")


def _is_end(message: Message) -> bool:
    return message["type"] == "http.response.body" and not message.get("more_body", False)
