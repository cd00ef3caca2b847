"""The dashboard listens on this machine only, unless an address is set. It checks host names."""

import http.client
import socket
from contextlib import closing
from pathlib import Path

import pytest

import ingest
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


@pytest.mark.parametrize("option", ["", "--server.address=0.0.0.0"])
def test_the_network_can_reach_the_dashboard_only_if_an_address_is_set(
    option: str, store: ingest.Store, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # With this option, Streamlit does not look up its external address.
    more = [option, "--browser.serverAddress=localhost"] if option else []
    with (tmp_path / "printed").open("w+b") as output:
        with served(store.path, *more, directory=elsewhere, output=output) as address:
            port = int(address.rpartition(":")[2])
            assert [answers(other, port) for other in other_addresses()] == [
                bool(option) for _ in other_addresses()
            ]
        output.seek(0)
        printed = output.read().decode()
    notices = [line for line in printed.splitlines() if line.startswith("tracehouse: ")]
    expected = (
        "tracehouse: the network can reach this server, and it has no password: anyone who can "
        f"reach port {port} at any address of this machine can read all runs in {store.path}, also "
        "with SQL"
    )
    assert notices == ([expected] if option else [])


def status(address: str, path: str, host: str, **headers: str) -> int:
    """Return the status of a request to the server at `address` that names another `host`."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=20)
    connection.request("GET", path, headers={"Host": host, **headers})
    with closing(connection):
        return connection.getresponse().status


def test_pages_are_refused_to_sites_that_point_their_name_at_this_machine(
    store: ingest.Store,
) -> None:
    opens = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dHJhY2Vob3VzZTEyMzQ1Ng==",
        "Sec-WebSocket-Version": "13",
    }
    known = ("localhost", "127.0.0.1", "[::1]", socket.gethostname(), "profiles.example.org")
    with served(store.path, "--browser.serverAddress=profiles.example.org") as address:
        port = address.rpartition(":")[2]
        for name, is_known in [*((name, True) for name in known), ("evil.example", False)]:
            host = f"{name}:{port}"
            found = status(address, "/", host)
            assert found == (200 if is_known else 403), name
            stream = status(address, "/_stcore/stream", host, Origin=f"http://{host}", **opens)
            assert stream == (101 if is_known else 403), name


def test_an_empty_address_is_refused(store: ingest.Store, tmp_path: Path) -> None:
    with (tmp_path / "printed").open("w+b") as output:
        with (
            pytest.raises(AssertionError, match="does not answer"),
            served(store.path, "--server.address=", output=output),
        ):
            pass
        output.seek(0)
        assert b"tracehouse: --server.address is empty" in output.read()
