"""The OpenAI-compatible endpoints that the administrator allows, configured in the environment.

config.settings imports this module before Django is set up, so it must not import Django.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from socket import inet_aton
from typing import ClassVar
from urllib.parse import urlsplit

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Ends of names that public name servers never resolve (RFC 6761, RFC 6762, RFC 8375, ICANN's "internal").
_PRIVATE_NAMES = (".localhost", ".internal", ".local", ".home.arpa")


class KeyMissing(Exception):
    """The key of an endpoint is missing from the environment or is invalid. The message never contains the key."""


@dataclass(frozen=True)
class Endpoint:
    """One endpoint. ``key_variable`` names the environment variable with its key; empty if it needs none."""

    name: str
    url: str
    key_variable: str = ""
    #: Whether the administrator wrote the URL, and may therefore name private addresses.
    by_administrator: ClassVar[bool] = True
    secure: bool = field(init=False)
    host: str = field(init=False)
    port: int = field(init=False)
    path: str = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.name}: the address must begin with http:// or https:// and name a host")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(f"{self.name}: the address must not contain a user, query or fragment")
        if re.search(r"[^\x21-\x7e]", self.url):
            raise ValueError(f"{self.name}: the address must be plain ASCII without spaces")
        secure = parts.scheme == "https"
        object.__setattr__(self, "secure", secure)
        object.__setattr__(self, "host", parts.hostname)
        object.__setattr__(self, "port", parts.port or (443 if secure else 80))
        object.__setattr__(self, "path", parts.path.rstrip("/"))

    @property
    def is_outside(self) -> bool:
        """Return whether texts that are sent here leave the server and its private networks.

        Decided by the URL alone, because the address of a public name can change. A name counts as outside unless it
        has one part, or is reserved for private networks.
        """
        try:
            return ip_address(self.host).is_global
        except ValueError:
            with suppress(OSError):  # "134744072" and "0x08080808" are 8.8.8.8 for the system's resolver
                return ip_address(inet_aton(self.host)).is_global
            return "." in self.host and not self.host.endswith(_PRIVATE_NAMES)

    def key(self) -> str:
        """Return the key from the current environment, or "" if the endpoint needs none. Raise `KeyMissing`."""
        if not self.key_variable:
            return ""
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise KeyMissing(f"The endpoint {self.name!r} needs a key: set {self.key_variable} for the workers.")
        if re.search(r"[^\x21-\x7e]", key):
            raise KeyMissing(f"The key in {self.key_variable} contains characters other than printable ASCII.")
        return key


def parse(text: str) -> dict[str, Endpoint]:
    """Parse comma-separated ``name=url`` or ``name=url KEY_VARIABLE`` entries, by name.

    Raise ValueError if one is invalid.
    """
    endpoints: dict[str, Endpoint] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, equals, rest = entry.partition("=")
        name = name.strip()
        url, *variable = rest.split()[:3] if rest.strip() else [""]
        if not equals or not _NAME.fullmatch(name):
            raise ValueError("each endpoint must be name=url, with a name of letters, digits, '.', '_' and '-'")
        if len(variable) > 1 or (variable and not _VARIABLE.fullmatch(variable[0])):
            raise ValueError(f"{name}: only the name of the variable with the key may follow the address")
        if name in endpoints:
            raise ValueError(f"{name}: there are two endpoints with this name")
        endpoints[name] = Endpoint(name, url, *variable)
    return endpoints
