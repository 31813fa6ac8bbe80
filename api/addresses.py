"""Where a request comes from: read from what a proxy wrote, which a stranger may have had a hand in."""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address
#: As proxies write one: in brackets where it has colons, with the port that some append.
_WRITTEN = re.compile(r"\[(?P<bracketed>[^\[\]]*)\](:\d{1,5})?|(?P<v4>[0-9.]*):\d{1,5}|(?P<plain>[^\[\]]*)", re.ASCII)
#: An IPv6 customer has at least a network of so many bits, and every address in it.
_HOUSEHOLD = 64


def client_ip(request: HttpRequest) -> Address | None:
    """The client's address; behind our own proxy the one that the proxy saw, which a client cannot make up. None where
    it cannot be told: what was written is no address, or the server is reached by a socket file."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip()
    if settings.BEHIND_PROXY and forwarded:
        return _read(forwarded)
    return _peer(request)


def place(request: HttpRequest) -> str:
    """What failed tries are counted by: the client's address or, for IPv6, its network, for whoever has one address of
    it has them all. Both data bases take it as an address."""
    found = client_ip(request) or _peer(request) or IPv4Address(0)
    if isinstance(found, IPv6Address):
        found = IPv6Network((found, _HOUSEHOLD), strict=False).network_address
    return str(found)


def _peer(request: HttpRequest) -> Address | None:
    return _read(str(request.META.get("REMOTE_ADDR", "")))


def _read(written: str) -> Address | None:
    """The address without port, brackets and zone; of an IPv4 address in IPv6's form the IPv4 address."""
    parts = _WRITTEN.fullmatch(written)
    if parts is None:
        return None
    text, percent, zone = (parts["bracketed"] or parts["v4"] or parts["plain"] or "").partition("%")
    try:
        found = ip_address(text)
    except ValueError:
        return None
    if percent and (not zone or found.version == 4):
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
