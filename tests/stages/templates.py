"""An empty, migrated database per run. Test processes copy it instead of running the migrations."""

import hashlib
import os
import shutil
import sqlite3
import threading
from contextlib import closing

from . import servers
from .run import DATA, ROOT, Run

#: Environment variable with the path of the SQLite file or the name of the PostgreSQL database to copy.
VARIABLE = "TEST_TEMPLATE"
NAME = "concord_template"
KEPT = ROOT / ".cache" / "templates"
#: Files that a template depends on, in addition to the migrations.
DEPENDENCIES = ("audit/triggers.py", "audit/models.py", "requirements.txt", "config/settings.py")
_lock = threading.Lock()


def sqlite(run: Run, *, remain: bool = False) -> dict[str, str]:
    """Return the environment variable of the SQLite template.

    ``remain``: use the template of an earlier run and keep this one for later runs. A run of all checks always creates
    its own template, which tests the migrations.
    """
    path = DATA / "template.sqlite3"
    with _lock:
        if not path.exists() and remain and (cached := kept()):
            shutil.copy(cached, path)
        if not path.exists():
            fresh = path.with_suffix(".new")
            run.manage("migrate", "-v0", DATABASE_URL=f"sqlite:///{fresh}")
            fresh.rename(path)
        if remain:
            keep(str(path))
    return {VARIABLE: str(path)}


def kept() -> str:
    """Return the path of a current SQLite template of an earlier run; empty if there is none."""
    path = KEPT / f"{_digest()}.sqlite3"
    return str(path) if path.exists() else ""


def keep(migrated: str) -> None:
    """Keep a newly migrated, empty database for later runs."""
    path = KEPT / f"{_digest()}.sqlite3"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        # VACUUM INTO also copies rows that are only in the write-ahead log.
        with closing(sqlite3.connect(migrated)) as connection:
            connection.execute("VACUUM INTO ?", [str(fresh)])
        fresh.rename(path)
        for old in set(KEPT.glob("*.sqlite3")) - {path}:
            old.unlink(missing_ok=True)


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("*/migrations/*.py"), *(ROOT / name for name in DEPENDENCIES)]):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def postgres(run: Run, url: str) -> dict[str, str]:
    """Create the template on a new PostgreSQL server, and return its environment variable."""
    run.manage("migrate", "-v0", DATABASE_URL=servers.create_database(url, NAME))
    return {VARIABLE: NAME}
