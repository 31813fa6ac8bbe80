"""The OpenAI-compatible endpoints that the administrator allows: named in the environment, never typed by a person.

Read by config.settings before Django is set up, so it imports none of it.
"""

import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class KeyMissing(Exception):
    """The environment lacks an endpoint's key, or it cannot be sent. The message never holds it."""


@dataclass(frozen=True)
class Endpoint:
    """One endpoint. ``key_variable`` names the environment variable that holds its key; empty where it needs none."""

    name: str
    url: str
    key_variable: str = ""
    secure: bool = field(init=False)
    host: str = field(init=False)
    port: int = field(init=False)
    path: str = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.name}: the address must begin with http:// or https:// and name a host")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(f"{self.name}: the address must hold no user, query or fragment")
        if re.search(r"[^\x21-\x7e]", self.url):
            raise ValueError(f"{self.name}: the address must be plain ASCII without spaces")
        secure = parts.scheme == "https"
        object.__setattr__(self, "secure", secure)
        object.__setattr__(self, "host", parts.hostname)
        object.__setattr__(self, "port", parts.port or (443 if secure else 80))
        object.__setattr__(self, "path", parts.path.rstrip("/"))

    def key(self) -> str:
        """The key, from the environment as it is now; "" where the endpoint needs none. Raises `KeyMissing`."""
        if not self.key_variable:
            return ""
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise KeyMissing(f"The endpoint {self.name!r} needs a key: set {self.key_variable} for the workers.")
        if re.search(r"[^\x21-\x7e]", key):
            raise KeyMissing(f"The key in {self.key_variable} holds characters that no key has.")
        return key


def parse(text: str) -> dict[str, Endpoint]:
    """``name=url`` or ``name=url KEY_VARIABLE``, separated by commas; by name. ValueError says what is wrong."""
    found: dict[str, Endpoint] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, equals, rest = entry.partition("=")
        name = name.strip()
        url, *variable = rest.split()[:3] if rest.strip() else [""]
        if not equals or not _NAME.fullmatch(name):
            raise ValueError("each endpoint is name=url, the name of letters, digits, '.', '_' and '-'")
        if len(variable) > 1 or (variable and not _VARIABLE.fullmatch(variable[0])):
            raise ValueError(f"{name}: after the address only the name of the variable that holds the key")
        if name in found:
            raise ValueError(f"{name}: there are two endpoints of this name")
        found[name] = Endpoint(name, url, *variable)
    return found
