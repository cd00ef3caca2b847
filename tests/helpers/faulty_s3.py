"""A proxy before a server with the interface of S3, whose answers are sometimes faults of S3."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ERROR = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>"
SLOW_DOWN = (503, "SlowDown")
INTERNAL = (500, "InternalError")
EXPIRED = (400, "ExpiredToken")
TRUNCATED = "truncated"  # half of the answer arrives
LOST = "lost"  # the server did what was asked, and the answer is lost

# Returns the fault of a request, by its method, its path and how often it was sent before, or None.
Fault = tuple[int, str] | str | None
Plan = Callable[[str, str, int], Fault]


@contextmanager
def faulty(address: str, plan: Plan) -> Iterator[tuple[str, Counter[str]]]:
    """Start a proxy of the server at an address. Yield its address, and the number of faults."""
    host, _, port = address.removeprefix("http://").partition(":")
    seen: Counter[tuple[str, str]] = Counter()
    faults: Counter[str] = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.body()
            with lock:
                key = (self.command, f"{self.path} {self.headers.get('Range')}")
                fault = plan(self.command, self.path, seen[key])
                seen[key] += 1
                if fault:
                    faults[fault if isinstance(fault, str) else fault[1]] += 1
            if isinstance(fault, tuple):
                content = ERROR.format(code=fault[1]).encode()
                self.send_response(fault[0])
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)
                return
            self.forward(body, fault)

        def body(self) -> bytes:
            """Return the body as it is on the wire, which may be in chunks."""
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = []
            size = 1
            while size:
                found.append(self.rfile.readline())
                size = int(found[-1].partition(b";")[0], 16)
                found.append(self.rfile.read(size))
                while (line := self.rfile.readline()) != b"\r\n" and not size:
                    found.append(line)  # a trailer
                found.append(b"\r\n")
            return b"".join(found)

        def forward(self, body: bytes, fault: Fault) -> None:
            server = HTTPConnection(host, int(port))
            server.request(self.command, self.path, body, dict(self.headers))
            answer = server.getresponse()
            content = answer.read()
            server.close()
            if fault == LOST:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            size = answer.headers["Content-Length"] if self.command == "HEAD" else len(content)
            self.send_header("Content-Length", str(size or 0))
            self.end_headers()
            if fault == TRUNCATED:
                self.wfile.write(content[: len(content) // 2])
                self.close_connection = True
            else:
                self.wfile.write(content)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", faults
        server.shutdown()
