"""The dashboard listens on this machine only, unless an address is set. It checks host names."""

import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ingest
from dashboard import options
from tests.dashboard.requests import handshake, status
from tests.dashboard.server import served

pytestmark = pytest.mark.slow  # starts servers


def other_addresses() -> list[str]:
    """Return addresses of this machine except 127.0.0.1: on the loopback and in its network."""
    found = {"127.0.0.2"}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outwards:
        try:
            outwards.connect(("192.0.2.1", 9))  # sends nothing
            found.add(outwards.getsockname()[0])
        except OSError:
            pass  # no network
    return sorted(found - {"127.0.0.1"})


def answers(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=2).close()
    except OSError:
        return False
    return True


@contextmanager
def elsewhere(store: Path, directory: Path, *more: str) -> Iterator[tuple[str, list[str]]]:
    """Serve a store from another working directory. Yield the address and a list of the notices.

    The list is filled when the server has ended.
    """
    (directory / "elsewhere").mkdir()
    notices: list[str] = []
    with (directory / "printed").open("w+b") as output:
        with served(store, *more, directory=directory / "elsewhere", output=output) as address:
            yield address, notices
        output.seek(0)
        printed = output.read().decode().splitlines()
        notices += [line for line in printed if line.startswith("tracehouse: ")]


def reached(address: str) -> list[bool]:
    """Return whether each other address of this machine answers at the server's port."""
    port = int(address.rpartition(":")[2])
    return [answers(other, port) for other in other_addresses()]


def test_the_network_can_reach_the_dashboard_if_an_address_is_set(
    store: ingest.Store, tmp_path: Path
) -> None:
    # With the second option, Streamlit does not look up its external address.
    names = ("--server.address=0.0.0.0", "--browser.serverAddress=localhost")
    with elsewhere(store.path, tmp_path, *names) as (address, notices):
        assert reached(address) == [True for _ in other_addresses()]
    port = address.rpartition(":")[2]
    assert notices == [
        "tracehouse: the network can reach this server, and it has no password: anyone who can "
        f"reach port {port} at any address of this machine can read all runs in {store.path}, also "
        "with SQL; labels cannot be edited"
    ]


def test_only_this_machine_can_reach_the_dashboard_by_names_that_it_knows(
    store: ingest.Store, tmp_path: Path
) -> None:
    """Pages are refused to sites that point their own name at this machine."""
    known = ("localhost", "127.0.0.1", "[::1]", socket.gethostname(), "profiles.example.org")
    public = "https://profiles.example.org"
    names = (
        "--browser.serverAddress=profiles.example.org",
        f"--server.corsAllowedOrigins={public}",
    )
    with elsewhere(store.path, tmp_path, *names) as (address, notices):
        assert reached(address) == [False for _ in other_addresses()]
        port = address.rpartition(":")[2]
        for name, is_known in [*((name, True) for name in known), ("evil.example", False)]:
            host = f"{name}:{port}"
            found = status(address, "/", host)
            assert found == (200 if is_known else 403), name
            assert handshake(address, f"http://{host}", host) == (101 if is_known else 403), name
        assert handshake(address, public) == 101  # through a proxy that replaces the host
        assert handshake(address, f"{public}:{port}") == 403
    assert notices == [
        f"tracehouse: refused a WebSocket from '{public}:{port}'. If a proxy replaces the header "
        "Host, name the address that users type with --server.corsAllowedOrigins."
    ]


def test_an_empty_address_is_refused(store: ingest.Store, tmp_path: Path) -> None:
    with (tmp_path / "printed").open("w+b") as output:
        with (
            pytest.raises(AssertionError, match="does not answer"),
            served(store.path, "--server.address=", output=output),
        ):
            pass
        output.seek(0)
        assert b"tracehouse: --server.address is empty" in output.read()


INVALID: list[tuple[list[str], str, str]] = [
    (["--readonly"], "", "unrecognized arguments: --readonly; options after `--` are --store DIR"),
    (["--run"], "", "argument --run: expected one argument"),
    ([], "yes", "TRACEHOUSE_READ_ONLY: must be 0 or 1, not yes"),
]


@pytest.mark.parametrize(("arguments", "setting", "message"), INVALID)
def test_invalid_options_are_errors(
    arguments: list[str], setting: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["dashboard/app.py", *arguments])
    monkeypatch.setenv("TRACEHOUSE_READ_ONLY", setting)
    with pytest.raises(ingest.IngestError, match=re.escape(message)):
        options.check()


def test_a_dashboard_does_not_start_with_an_unknown_option(
    store: ingest.Store, tmp_path: Path
) -> None:
    """Otherwise, a misspelled --read-only would let everyone edit labels."""
    with (tmp_path / "printed").open("w+b") as output:
        with (
            pytest.raises(AssertionError, match="does not answer"),
            served(store.path, options=["--readonly"], output=output),
        ):
            pass
        output.seek(0)
        assert b"tracehouse: unrecognized arguments: --readonly" in output.read()
