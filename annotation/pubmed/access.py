"""Who asks PubMed: an e-mail address and, where there is one, a key. The key is kept sealed and shown to nobody."""

from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from accounts.models import User

from ..models import PubMedAccess


@dataclass(frozen=True)
class Access:
    """What is sent with each request. The key is in no text of this."""

    email: str
    key: str = field(default="", repr=False)


def of(user: User | None) -> Access:
    """How a person asks; by the address of the account where nothing else was said. A key that can no longer be read,
    for the installation has another secret key, is as good as none."""
    stored = PubMedAccess.objects.filter(user=user).first() if user else None
    if stored is None:
        return Access(user.email if user else "")
    return Access(stored.email, _opened(stored.sealed_key))


def keep(user: User, *, email: str, key: str | None) -> None:
    """Keep an address, and a key: "" takes it away, None leaves it."""
    fields: dict[str, str] = {"email": email}
    if key is not None:
        fields["sealed_key"] = _box().encrypt(key.encode()).decode() if key else ""
    PubMedAccess.objects.update_or_create(user=user, defaults=fields)


def _opened(sealed: str) -> str:
    try:
        return _box().decrypt(sealed.encode()).decode() if sealed else ""
    except InvalidToken:
        return ""


def _box() -> Fernet:
    secret = sha256(b"annotation.pubmed.access\0" + settings.SECRET_KEY.encode()).digest()
    return Fernet(urlsafe_b64encode(secret))
