"""The secret key of an installation that was given none: made once, kept beside its data, readable by its owner."""

import os
import secrets
from pathlib import Path


def known_secret_key(folder: Path) -> str:
    """The key in ``folder/secret_key``; empty where there is none that this user may read."""
    try:
        return (folder / "secret_key").read_text().strip()
    except OSError:
        return ""


def kept_secret_key(folder: Path) -> str:
    """The key in ``folder/secret_key``; a random one is made when there is none. Two processes get the same one."""
    path = folder / "secret_key"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        fresh = folder / f".secret_key-{os.getpid()}"
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50) + "\n")
        try:
            os.link(fresh, path)  # whole or not at all, and never over a key that another process made meanwhile
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()
