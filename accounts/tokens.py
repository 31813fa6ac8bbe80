"""Random tokens that are stored as hashes only, and encryption of stored secrets."""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


def new_token() -> str:
    """Return a new URL-safe secret with 256 random bits."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return the SHA-256 of a token in hex. A slow hash is not needed, because the token is random."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def encrypt(secret: str, *, purpose: str) -> str:
    """Encrypt a secret. An empty secret stays empty."""
    return _fernet(purpose).encrypt(secret.encode()).decode() if secret else ""


def decrypt(encrypted: str, *, purpose: str) -> str:
    """Decrypt a secret. Return "" if nothing is stored or SECRET_KEY has changed since the encryption."""
    try:
        return _fernet(purpose).decrypt(encrypted.encode()).decode() if encrypted else ""
    except InvalidToken:
        return ""


def _fernet(purpose: str) -> Fernet:
    key = sha256(f"{purpose}\0".encode() + settings.SECRET_KEY.encode()).digest()
    return Fernet(urlsafe_b64encode(key))
