"""Who can reach the server."""

import ipaddress
import socket


def is_local(address: str | None) -> bool:
    """Whether only this machine reaches the address."""
    try:
        found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(place[0]).is_loopback for *_, place in found)
