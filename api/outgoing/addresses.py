"""Where a connection may go. A name is resolved once, every address is judged, and the connection is made to one of
the very addresses that were judged: a name that says something else a moment later changes nothing."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(network) for network in text.split())


#: Never, whatever anybody allows: link-local, and where clouds hand out their machines' secrets.
NEVER = _networks(
    "169.254.0.0/16 fe80::/10 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32 0.0.0.0/8 255.255.255.255/32 "
    "fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128"
)
#: All that IANA has given to the public of IPv6: what is not named anywhere is reserved, and no list keeps up with it.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
#: Special by IANA's registries, and global by `ipaddress`, or by some releases of it.
_SPECIAL = _networks("192.0.0.0/24 192.88.99.0/24 2001::/23 2002::/16 3fff::/20")
#: Nothing but another way to write an IPv4 address: the system, or the network's translator, goes to that.
_WRITTEN_AS_IPV6 = _networks("::ffff:0:0/96 64:ff9b::/96")
#: Addresses of their own that a tunnel or a translator may take to the IPv4 address at their end.
_WITH_IPV4_AT_THE_END = _networks("::/96 ::ffff:0:0:0/96")
_NAT64_OF_ONES_OWN = IPv6Network("64:ff9b:1::/48")
#: What stands before the IPv4 address in the last half of ISATAP's addresses (RFC 5214).
_ISATAP = (0x00005EFE, 0x02005EFE)


class Unresolved(Exception):
    """The name has no address now."""


class NotAllowed(Exception):
    """Nothing may connect to what the name leads to."""


@dataclass(frozen=True)
class Place:
    """An address that was judged and allowed, ready to connect to without another look-up."""

    family: socket.AddressFamily
    address: tuple[Any, ...]


def places(host: str, port: int, networks: Sequence[Network], *, setting: str) -> list[Place]:
    """The addresses of a host. Raises `Unresolved`, and `NotAllowed` if any of them is not allowed.

    Allowed are public addresses; an address that the administrator wrote in place of a name; loopback for
    ``localhost``; and the private ``networks`` that the administrator lists in ``setting``. One address that is not
    allowed refuses them all: such a name is not to be trusted.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unresolved(f"The name {host} could not be resolved ({error}).") from error
    allowed = []
    for family, _, _, _, address in found:
        if reason := refusal(host, str(address[0]), networks, setting=setting):
            raise NotAllowed(reason)
        allowed.append(Place(socket.AddressFamily(family), address))
    if not allowed:
        raise Unresolved(f"The name {host} has no address.")
    return allowed


def refusal(host: str, text: str, networks: Sequence[Network], *, setting: str) -> str:
    """Why nothing may connect to an address of a host; empty where it may."""
    shown = text if text == host else f"{host} is {text}, which"
    try:
        # A zone ("%eth0") says through which interface, not where to.
        leads_to = readings(ip_address(text.partition("%")[0]))
    except ValueError:
        return f"{shown} is no internet address."
    if any(_is_never_allowed(address) for address in leads_to):
        return f"{shown} is link-local, a metadata service or no host: it is never connected to."
    local = host == "localhost" or host.endswith(".localhost")
    for address in leads_to:
        allowed = any(address in network for network in networks) or (local and address.is_loopback)
        if not (text == host or allowed or _is_public(address)):
            meant = "" if str(address) == text else f"leads to {address} and "
            return f"{shown} {meant}is private: the administrator has not allowed it in {setting}."
    return ""


def _is_never_allowed(address: Address) -> bool:
    return any(address in network for network in NEVER) or address.is_multicast or address.is_unspecified


def _is_public(address: Address) -> bool:
    """Global unicast, and nothing special: IANA's registries of both kinds of address, narrowed."""
    given = isinstance(address, IPv4Address) or address in _PUBLIC_IPV6
    return given and address.is_global and not any(address in network for network in _SPECIAL)


def readings(address: Address) -> tuple[Address, ...]:
    """Where an address may lead: to itself, and to each IPv4 address that a tunnel or a translator would find in it.

    Every way to put one into the other, however old: a machine may still have the interface for it.
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
        # Behind a prefix of 48, 56 or 64 bits, the ninth octet skipped, or of 96 (RFC 6052): the prefix is not told. An
        # IPv4 address that begins with 0 is no host, so that is no prefix.
        joined = octets[:8] + octets[9:]
        behind = [joined[6:10], joined[7:11], joined[8:12], octets[12:]]
        found += [IPv4Address(one) for one in behind if one[0]]
    return tuple(found)
