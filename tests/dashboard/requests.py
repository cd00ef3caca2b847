"""Requests to a dashboard with any headers, as pages of other sites and programs send them."""

import http.client
from contextlib import closing

from tests.dashboard.server import PATIENCE_S

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dHJhY2Vob3VzZTEyMzQ1Ng==",
    "Sec-WebSocket-Version": "13",
}


def status(address: str, path: str, host: str | None = None, **headers: str) -> int:
    """Return the status of a request to the server at `address`, which may name another `host`."""
    own = address.removeprefix("http://")
    connection = http.client.HTTPConnection(own, timeout=PATIENCE_S)
    connection.request("GET", path, headers={"Host": own if host is None else host, **headers})
    with closing(connection):
        return connection.getresponse().status


def handshake(address: str, origin: str | None, host: str | None = None) -> int:
    """Return the status of a request for a WebSocket: 101 if it opens."""
    origins = {} if origin is None else {"Origin": origin}
    return status(address, "/_stcore/stream", host, **UPGRADE, **origins)
