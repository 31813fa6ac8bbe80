"""Check of addresses for outgoing connections.

A name is resolved once and all its addresses are checked. The connection uses one of the checked addresses, which
prevents DNS rebinding.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(network) for network in text.split())


#: Networks that are never allowed: link-local addresses and metadata services of cloud providers.
NEVER = _networks(
    "169.254.0.0/16 fe80::/10 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32 0.0.0.0/8 255.255.255.255/32 "
    "fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128"
)
#: The IPv6 space that IANA has allocated for global unicast. Everything else is reserved.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
#: Special-purpose networks in IANA's registries that (some versions of) `ipaddress` report as global.
_SPECIAL = _networks("192.0.0.0/24 192.88.99.0/24 2001::/23 2002::/16 3fff::/20")
#: Notations of an IPv4 address as IPv6. The system or a translator connects to the IPv4 address.
_WRITTEN_AS_IPV6 = _networks("::ffff:0:0/96 64:ff9b::/96")
#: IPv6 networks whose addresses a tunnel or translator may forward to the IPv4 address in the last 32 bits.
_WITH_IPV4_AT_THE_END = _networks("::/96 ::ffff:0:0:0/96")
_NAT64_OF_ONES_OWN = IPv6Network("64:ff9b:1::/48")
#: The 32 bits before the IPv4 address in the last half of an ISATAP address (RFC 5214).
_ISATAP = (0x00005EFE, 0x02005EFE)


class Unresolved(Exception):
    """The name could not be resolved."""


class NotAllowed(Exception):
    """Connections to an address of the name are not allowed."""


@dataclass(frozen=True)
class CheckedAddress:
    """A checked address, which needs no further look-up to connect."""

    family: socket.AddressFamily
    address: tuple[Any, ...]


def checked_addresses(
    host: str, port: int, networks: Sequence[Network], *, setting: str, by_administrator: bool = True
) -> list[CheckedAddress]:
    """Return the addresses of a host. Raise `Unresolved`, or `NotAllowed` if one of them is not allowed.

    Allowed are public addresses, an address that the administrator wrote instead of a name, loopback for
    ``localhost``, and the private ``networks`` that the administrator lists in ``setting``. One address that is not
    allowed rejects the name, because it cannot be trusted. If the administrator did not write the host
    (``by_administrator``), only public addresses and the ``networks`` are allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unresolved(f"The name {host} could not be resolved ({error}).") from error
    allowed = []
    for family, _, _, _, address in found:
        if reason := refusal(host, str(address[0]), networks, setting=setting, by_administrator=by_administrator):
            raise NotAllowed(reason)
        allowed.append(CheckedAddress(socket.AddressFamily(family), address))
    if not allowed:
        raise Unresolved(f"The name {host} has no address.")
    return allowed


def refusal(host: str, text: str, networks: Sequence[Network], *, setting: str, by_administrator: bool = True) -> str:
    """Return why connections to an address of a host are not allowed, or an empty string."""
    label = text if text == host else f"{host} is {text}, which"
    try:
        # Ignore the zone "%eth0": it selects the interface, not the destination.
        leads_to = readings(ip_address(text.partition("%")[0]))
    except ValueError:
        return f"{label} is not an IP address."
    if any(_is_never_allowed(address) for address in leads_to):
        return f"{label} is link-local, a metadata service or not a host address. Connections to it are never allowed."
    local = by_administrator and (host == "localhost" or host.endswith(".localhost"))
    for address in leads_to:
        allowed = any(address in network for network in networks) or (local and address.is_loopback)
        if not ((by_administrator and text == host) or allowed or _is_public(address)):
            meant = "" if str(address) == text else f"leads to {address} and "
            return f"{label} {meant}is private. The administrator can allow it in {setting}."
    return ""


def _is_never_allowed(address: Address) -> bool:
    return any(address in network for network in NEVER) or address.is_multicast or address.is_unspecified


def _is_public(address: Address) -> bool:
    """Return whether an address is global unicast and not in a special-purpose network of IANA's registries."""
    is_assignable = isinstance(address, IPv4Address) or address in _PUBLIC_IPV6
    return is_assignable and address.is_global and not any(address in network for network in _SPECIAL)


def readings(address: Address) -> tuple[Address, ...]:
    """Return the possible destinations of an address: itself, and IPv4 addresses embedded for a tunnel or translator.

    Includes obsolete embeddings, because a host may still have an interface for them.
    """
    if isinstance(address, IPv4Address) or address.is_loopback or address.is_unspecified:
        return (address,)
    octets = address.packed
    end = IPv4Address(octets[-4:])
    if any(address in network for network in _WRITTEN_AS_IPV6):
        return (end,)
    found: list[Address] = [address]
    if any(address in network for network in _WITH_IPV4_AT_THE_END) or (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        found.append(end)
    if address.sixtofour:
        found.append(address.sixtofour)
    found += address.teredo or ()
    if address in _NAT64_OF_ONES_OWN:
        # The IPv4 address follows a prefix of 48, 56, 64 or 96 bits, without the ninth octet (RFC 6052). The length of
        # the prefix is unknown. IPv4 addresses that begin with 0 are not hosts, so those lengths are excluded.
        joined = octets[:8] + octets[9:]
        behind = [joined[6:10], joined[7:11], joined[8:12], octets[12:]]
        found += [IPv4Address(one) for one in behind if one[0]]
    return tuple(found)
