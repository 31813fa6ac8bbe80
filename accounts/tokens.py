"""Secrets that are handed out once and kept only as hashes."""

import hashlib
import secrets


def new_token() -> str:
    """A fresh secret with 256 bits of randomness, safe in a URL."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """SHA-256 in hex. Fast on purpose: the token is random, so there is nothing to guess."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
