"""Pages of other sites, and of other ports of this machine, may only link to the dashboard."""

import http.server
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from playwright.sync_api import Page

from tests.dashboard.requests import handshake, status
from tests.dashboard.server import PATIENCE_S

HOSTS = [
    ("127.0.0.1:PORT", 200),
    ("127.0.0.1", 200),
    ("LOCALHOST.:PORT", 200),
    ("[::1]:PORT", 200),
    ("127.0.0.1:PORT.evil.example", 403),
    ("127.0.0.1:PORT/evil.example", 403),
    ("127.0.0.1:PORT@evil.example", 403),
    ("evil@127.0.0.1:PORT", 403),
    ("[::1%25evil]:PORT", 403),
    ("[::1", 403),
    ("2130706433:PORT", 403),
    ("", 403),
]


def test_a_host_is_a_name_or_an_address_and_a_port(address: str) -> None:
    port = address.rpartition(":")[2]
    found = [
        (host, status(address, "/", host.replace("PORT", port)), expected)
        for host, expected in HOSTS
    ]
    assert found == [(host, expected, expected) for host, expected in HOSTS]


ORIGINS = [
    (None, 101),  # programs that are no browsers
    ("http://127.0.0.1:PORT", 101),
    ("https://127.0.0.1:PORT", 101),  # through a proxy that keeps the host
    ("http://127.0.0.1:1234", 403),
    ("http://127.0.0.1", 403),
    ("http://localhost:PORT", 403),
    ("http://0.0.0.0:PORT", 403),
    ("http://[::1]:PORT", 403),
    ("http://127.0.0.1:PORT.evil.example", 403),
    ("http://127.0.0.1:PORT@evil.example", 403),
    ("http://evil@127.0.0.1:PORT", 403),
    ("http://127.0.0.1:PORT/", 403),
    ("http://127.0.0.1:0PORT", 403),
    ("ws://127.0.0.1:PORT", 403),
    ("file://127.0.0.1:PORT", 403),
    ("//127.0.0.1:PORT", 403),
    ("127.0.0.1:PORT", 403),
    ("http://evil.example", 403),
    ("http://[", 403),
    ("null", 403),
    ("", 403),
]


def test_only_pages_of_the_same_origin_open_a_websocket(address: str) -> None:
    port = address.rpartition(":")[2]
    found = [
        (origin, handshake(address, origin and origin.replace("PORT", port)), expected)
        for origin, expected in ORIGINS
    ]
    assert found == [(origin, expected, expected) for origin, expected in ORIGINS]


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("localhost", "http://localhost", 101),
        ("localhost:80", "http://localhost", 101),
        ("localhost:443", "https://localhost", 101),
        ("localhost:443", "http://localhost", 403),
        ("localhost:80", "https://localhost", 403),
        ("[::1]:8501", "http://[::1]:8501", 101),
    ],
)
def test_browsers_leave_out_the_usual_port_and_proxies_may_add_it(
    address: str, host: str, origin: str, expected: int
) -> None:
    assert handshake(address, origin, host) == expected


FOREIGN: list[tuple[dict[str, str], int]] = [
    ({}, 200),
    ({"Origin": "http://evil.example"}, 403),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),  # another port
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),  # a link
    ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
    ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200),  # a bookmark
]


@pytest.mark.parametrize("path", ["/", "/runs", "/_stcore/host-config", "/_stcore/metrics"])
def test_other_sites_may_only_link_to_pages(address: str, path: str) -> None:
    found = [(headers, status(address, path, **headers)) for headers, _ in FOREIGN]
    assert found == FOREIGN


def test_no_other_site_may_frame_or_control_the_pages(address: str) -> None:
    for path in ("/", "/runs", "/_stcore/health", "/nothing/here", "/media/nothing"):
        try:
            answer = urllib.request.urlopen(f"{address}{path}", timeout=PATIENCE_S)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'self'", path
    with urllib.request.urlopen(f"{address}/_stcore/host-config", timeout=PATIENCE_S) as answer:
        assert json.load(answer)["allowedOrigins"] == []


# Opens the dashboard in a frame, and its WebSocket. Returns whether the socket opened.
ATTACK = """async (address) => {
    const frame = document.createElement("iframe");
    frame.src = `${address}/runs`;
    document.body.append(frame);
    await new Promise((loaded) => frame.onload = loaded);
    const socket = new WebSocket(`${address.replace("http", "ws")}/_stcore/stream`);
    return new Promise((done) => {
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    });
}"""


@contextmanager
def another_site() -> Iterator[str]:
    """Serve an empty page at another port of this machine. Yield its address."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            serving.join()


def test_a_page_of_another_port_neither_frames_the_dashboard_nor_opens_its_websocket(
    tab: Page, address: str
) -> None:
    def attacked() -> tuple[str, list[str]]:
        opened = tab.evaluate(ATTACK, address)
        return opened, [frame.url for frame in tab.frames if frame.parent_frame]

    tab.goto(f"{address}/_stcore/health")  # a page of the same origin can do both
    assert attacked() == ("open", [f"{address}/runs"])
    with another_site() as site:
        tab.goto(site)
        assert attacked() == ("refused", ["chrome-error://chromewebdata/"])
