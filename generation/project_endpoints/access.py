"""Endpoints by name, with the key of a project's endpoint in memory only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from django.conf import settings

from accounts.tokens import decrypt

from ..endpoints import Endpoint, KeyMissing
from ..models import ProjectEndpoint

#: Purpose of the encryption of keys.
PURPOSE = "key of an endpoint"


@dataclass(frozen=True)
class StoredEndpoint(Endpoint):
    """An endpoint of a project. Only public addresses and the administrator's networks are allowed."""

    by_administrator: ClassVar[bool] = False
    encrypted_key: str = field(default="", repr=False)

    def key(self) -> str:
        """Return the decrypted key, or "" if the endpoint needs none. Raise `KeyMissing` if it cannot be decrypted."""
        key = decrypt(self.encrypted_key, purpose=PURPOSE)
        if self.encrypted_key and not key:
            raise KeyMissing(
                f"The key of the endpoint {self.name!r} cannot be decrypted, because SECRET_KEY has changed. "
                "Remove the endpoint, and add it again."
            )
        return key


def stored(row: ProjectEndpoint) -> StoredEndpoint:
    return StoredEndpoint(row.name, row.url, encrypted_key=row.encrypted_key)


def administrators() -> Mapping[str, Endpoint]:
    """Return the endpoints of the GENERATION_ENDPOINTS setting, by name."""
    endpoints: Mapping[str, Endpoint] = settings.GENERATION_ENDPOINTS
    return endpoints
