"""Where a connection may go. A name is resolved once, every address is judged, and the connection is made to one of
the very addresses that were judged: a name that says something else a moment later changes nothing."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from ..protocol import BackendError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

#: Never, whatever anybody allows: link-local, and where clouds hand out their machines' secrets.
NEVER: tuple[Network, ...] = tuple(
    ip_network(network)
    for network in ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "100.100.100.200/32", "192.0.0.192/32",
                    "168.63.129.16/32", "0.0.0.0/8", "255.255.255.255/32")
)  # fmt: skip
_NAT64 = ip_network("64:ff9b::/96")


class Unresolved(Exception):
    """The name has no address now."""


@dataclass(frozen=True)
class Place:
    """An address that was judged and allowed, ready to connect to without another look-up."""

    family: socket.AddressFamily
    address: tuple[Any, ...]


def places(host: str, port: int, networks: Sequence[Network]) -> list[Place]:
    """The addresses of a host. Raises `Unresolved`, and `BackendError` if any of them is not allowed.

    Allowed are public addresses; an address that stands in the endpoint's URL itself; loopback for ``localhost``; and
    the private ``networks`` that the administrator lists. One address that is not allowed refuses them all: such a
    name is not to be trusted.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unresolved(f"The name {host} could not be resolved ({error}).") from error
    allowed = []
    for family, _, _, _, address in found:
        if reason := refusal(host, str(address[0]), networks):
            raise BackendError(reason)
        allowed.append(Place(socket.AddressFamily(family), address))
    if not allowed:
        raise Unresolved(f"The name {host} has no address.")
    return allowed


def refusal(host: str, text: str, networks: Sequence[Network]) -> str:
    """Why nothing may connect to an address of a host; empty where it may."""
    shown = text if text == host else f"{host} is {text}, which"
    try:
        # A zone ("%eth0") says through which interface, not where to.
        address = unwrapped(ip_address(text.partition("%")[0]))
    except ValueError:
        return f"{shown} is no internet address."
    if any(address in network for network in NEVER) or address.is_multicast or address.is_unspecified:
        return f"{shown} is link-local, a metadata service or no host: it is never connected to."
    if text == host or any(address in network for network in networks) or address.is_global:
        return ""
    if address.is_loopback and (host == "localhost" or host.endswith(".localhost")):
        return ""
    return f"{shown} is private: the administrator has not allowed it in GENERATION_NETWORKS."


def unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, where it does."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)
    return address
