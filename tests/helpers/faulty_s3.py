"""A proxy before a server with the interface of S3, whose answers are sometimes faults of S3.

It is a process of its own, because a library that waits for an answer may hold Python's lock.
"""

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, cycle
from urllib.request import urlopen

ERROR = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>"
SLOW_DOWN = (503, "SlowDown")
INTERNAL = (500, "InternalError")
EXPIRED = (400, "ExpiredToken")
TRUNCATED = (200, "truncated")  # half of the answer arrives
LOST = (200, "lost")  # the server does the work, but its answer never arrives
COUNTS = "/faults"

Fault = tuple[int, str] | None
# Returns the fault of a request, by its method and whether it is a repetition.
Plan = Callable[[str, bool], Fault]
SECONDS = 60  # for an answer of the server


@contextmanager
def faulty(address: str, every: int = 0) -> Iterator[tuple[str, Callable[[], dict[str, int]]]]:
    """Start a proxy of the server at an address.

    One in `every` new requests gets a fault, and succeeds when it is repeated. If `every` is 0, all
    answers say that the credentials have expired. Yield the proxy's address, and a function that
    returns the numbers of faults by kind.
    """
    command = (sys.executable, "-m", "tests.helpers.faulty_s3", address, str(every))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        proxy = process.stdout.readline().strip()
        assert proxy, "it did not start"

        def faults() -> dict[str, int]:
            with urlopen(f"{proxy}{COUNTS}", timeout=SECONDS) as answer:
                return dict(json.load(answer))

        try:
            yield proxy, faults
        finally:
            process.kill()


def passing(every: int) -> Plan:
    """Return a plan with a fault for one in `every` new requests. The kinds of faults take turns.

    GET requests are counted apart from the others, which have other faults.
    """
    reading, writing = cycle((SLOW_DOWN, INTERNAL, TRUNCATED)), cycle((SLOW_DOWN, LOST))
    gets, others = count(1), count(1)

    def plan(method: str, is_repeated: bool) -> Fault:
        number, faults = (gets, reading) if method == "GET" else (others, writing)
        return None if is_repeated or next(number) % every else next(faults)

    return plan


def serve(address: str, plan: Plan) -> None:
    """Serve for ever, and print the proxy's address."""
    host, _, port = address.removeprefix("http://").partition(":")
    seen: set[tuple[str, str, str | None]] = set()
    faults: Counter[str] = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            if self.path == COUNTS:
                self.answer(200, json.dumps(faults).encode())
                return
            body = self.body()
            request = (self.command, self.path, self.headers.get("Range"))
            with lock:
                fault = plan(self.command, request in seen)
                seen.add(request)
                if fault:
                    faults[fault[1]] += 1
            if fault and fault[0] != 200:
                self.answer(fault[0], ERROR.format(code=fault[1]).encode())
            else:
                self.forward(body, fault)

        def answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def body(self) -> bytes:
            """Return the body as it is on the wire, which may be in chunks."""
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = [self.rfile.readline()]
            while size := int(found[-1].partition(b";")[0], 16):
                found += [self.rfile.read(size), self.rfile.readline(), self.rfile.readline()]
            while found[-1].strip():  # trailers, and an empty line
                found.append(self.rfile.readline())
            return b"".join(found)

        def forward(self, body: bytes, fault: Fault) -> None:
            server = HTTPConnection(host, int(port), timeout=SECONDS)
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
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    every = int(sys.argv[2])
    serve(sys.argv[1], passing(every) if every else lambda *_: EXPIRED)
