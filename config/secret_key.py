"""Secret key of an installation without SECRET_KEY: generated once and stored in the data folder."""

import os
import secrets
from pathlib import Path


def known_secret_key(folder: Path) -> str:
    """Return the key in ``folder/secret_key``, or "" if there is none that this user can read."""
    try:
        return (folder / "secret_key").read_text().strip()
    except OSError:
        return ""


def kept_secret_key(folder: Path) -> str:
    """Return the key in ``folder/secret_key``, generating it if needed. Concurrent processes get the same key."""
    path = folder / "secret_key"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        fresh = folder / f".secret_key-{os.getpid()}"
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50) + "\n")
        try:
            os.link(fresh, path)  # atomic, and never replaces a key of another process
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()
