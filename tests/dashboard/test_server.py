"""The server that the browser tests use."""

import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import ingest
from dashboard import app
from tests.dashboard.server import PATIENCE_S, ROOT

PROGRAM = """
import sys
from pathlib import Path
from tests.dashboard.server import served

with served(Path(sys.argv[1])) as address:
    print(address, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_server_ends_with_the_tests_even_if_they_are_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(ingest.Store(tmp_path / "store").path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout
        health = f"{tests.stdout.readline().strip()}/_stcore/health"
        assert answers(health)
        tests.kill()
    end = time.monotonic() + PATIENCE_S
    while answers(health):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_connections_send_small_packets_without_delay() -> None:
    """Otherwise the browser gets each small file 40 ms later."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        app.send_at_once()
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except OSError:
        return False
