"""The server that the browser tests use."""

import socket
import subprocess
import sys
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

with served(Path(sys.argv[1]), output=sys.stderr) as address:
    print(address, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_server_ends_with_the_tests_even_if_they_are_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(ingest.Store(tmp_path / "store").path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as tests:
        assert tests.stdout
        address = tests.stdout.readline().decode().strip()
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=PATIENCE_S) as answer:
            assert answer.status == 200
        tests.kill()
        tests.communicate(timeout=PATIENCE_S)  # stderr closes when both processes have ended


def test_connections_send_small_packets_without_delay() -> None:
    """Otherwise the browser gets each small file 40 ms later."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        app.send_at_once()
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
