"""Files that never change are read once. Everything else is asked for each time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from dashboard import kept_files
from dashboard.kept_files import KeptFiles

FOREVER = {"Cache-Control": "public, immutable, max-age=31536000"}


class Server:
    """A server behind the middleware. Its answers have the number of the request."""

    def __init__(self) -> None:
        self.requests = 0
        self.kept = KeptFiles(self.answer)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests += 1
        text = f"{scope['path']} {self.requests}"
        headers = {} if "changing" in scope["path"] else FOREVER
        if "parts" in scope["path"]:
            parts = (part for part in [text[:3].encode(), text[3:].encode()])
            response: Response = StreamingResponse(parts, headers=headers)
        else:
            status = 404 if "missing" in scope["path"] else 200
            response = PlainTextResponse(text, status_code=status, headers=headers)
        await response(scope, receive, send)

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
        """Return the status and the body of an answer."""
        sent: list[Message] = []
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "headers": raw}

        async def receive() -> Message:
            await asyncio.Event().wait()  # the client stays connected
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        with ThreadPoolExecutor(1) as thread:  # this one may have an event loop
            thread.submit(asyncio.run, self.kept(scope, receive, send)).result()
        body = b"".join(message["body"] for message in sent[1:])
        return sent[0]["status"], body.decode()


@pytest.mark.parametrize("path", ["/a.js", "/parts.js"])
def test_a_file_that_never_changes_is_read_once(path):
    server = Server()
    assert [server.get(path) for _ in range(3)] == [(200, f"{path} 1")] * 3
    assert server.get("/other.js") == (200, "/other.js 2")


def test_everything_else_is_read_each_time():
    server = Server()
    assert [server.get("/changing") for _ in range(2)] == [
        (200, "/changing 1"),
        (200, "/changing 2"),
    ]
    assert [server.get("/missing.js")[0] for _ in range(2)] == [404, 404]
    before = server.requests
    server.get("/a.js", method="HEAD")
    server.get("/a.js", range="bytes=0-1")
    assert server.requests == before + 2
    assert server.get("/a.js") == (200, f"/a.js {before + 3}")


def test_it_keeps_no_more_than_its_limit(monkeypatch):
    monkeypatch.setattr(kept_files, "MAX_BYTES", len("/a.js 1") + 1)
    server = Server()
    assert [server.get("/a.js")[1] for _ in range(2)] == ["/a.js 1"] * 2
    assert [server.get("/b.js")[1] for _ in range(2)] == ["/b.js 2", "/b.js 3"]
