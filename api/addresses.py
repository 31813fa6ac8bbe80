"""The client address of a request. Clients can forge parts of the headers that proxies send."""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address
#: An address in the notation of proxies: with brackets around IPv6, and an optional port.
_WRITTEN = re.compile(r"\[(?P<bracketed>[^\[\]]*)\](:\d{1,5})?|(?P<v4>[0-9.]*):\d{1,5}|(?P<plain>[^\[\]]*)", re.ASCII)
#: Prefix length of the network of one IPv6 customer, who can use every address in it.
_HOUSEHOLD = 64


def client_ip(request: HttpRequest) -> Address | None:
    """Return the client's address, or None if it is unknown.

    Behind our own proxy this is the address that the proxy saw, which a client cannot forge. It is unknown if the
    header contains no address or the server listens on a Unix socket.
    """
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip()
    if settings.BEHIND_PROXY and forwarded:
        return _read(forwarded)
    return _peer(request)


def client_ip_prefix(request: HttpRequest) -> str:
    """Return the client address by which failures are counted. For IPv6 this is the address of the client's network.

    Both databases accept it as an address.
    """
    found = client_ip(request) or _peer(request) or IPv4Address(0)
    if isinstance(found, IPv6Address):
        found = IPv6Network((found, _HOUSEHOLD), strict=False).network_address
    return str(found)


def _peer(request: HttpRequest) -> Address | None:
    return _read(str(request.META.get("REMOTE_ADDR", "")))


def _read(written: str) -> Address | None:
    """Parse an address without port, brackets and zone. An IPv4-mapped IPv6 address becomes an IPv4 address."""
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
