"""Network addresses that only this machine can reach."""

import ipaddress
import socket


def is_local(address: str | None) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(endpoint[0]).is_loopback for *_, endpoint in found)
