"""An empty data base with all migrations, made once in a run: whoever tests copies it in place of migrating."""

import hashlib
import os
import shutil
import sqlite3
import threading
from contextlib import closing

from . import servers
from .run import DATA, ROOT, Run

#: What the copying is told by: the path of an SQLite file, or the name of a data base of the server that is tested.
VARIABLE = "TEST_TEMPLATE"
NAME = "concord_template"
KEPT = ROOT / ".cache" / "templates"
#: What a template is made of, beside the migrations.
MAKERS = ("audit/triggers.py", "audit/models.py", "requirements.txt", "config/settings.py")
_lock = threading.Lock()


def sqlite(run: Run, *, remain: bool = False) -> dict[str, str]:
    """What the environment says of the template on SQLite. ``remain``: it is left to later runs, as long as it is the
    same; the run of all checks makes its own, so that it sees what making one says."""
    path = DATA / "template.sqlite3"
    with _lock:
        if not path.exists() and remain and (there := kept()):
            shutil.copy(there, path)
        if not path.exists():
            fresh = path.with_suffix(".new")
            run.manage("migrate", "-v0", DATABASE_URL=f"sqlite:///{fresh}")
            fresh.rename(path)
        if remain:
            keep(str(path))
    return {VARIABLE: str(path)}


def kept() -> str:
    """A template on SQLite that an earlier run has left and that is still true; empty where there is none."""
    path = KEPT / f"{_digest()}.sqlite3"
    return str(path) if path.exists() else ""


def keep(migrated: str) -> None:
    """Leave an empty data base that was just migrated to later runs."""
    path = KEPT / f"{_digest()}.sqlite3"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        # What was written last may not stand in the file yet, but in the log beside it.
        with closing(sqlite3.connect(migrated)) as connection:
            connection.execute("VACUUM INTO ?", [str(fresh)])
        fresh.rename(path)
        for old in set(KEPT.glob("*.sqlite3")) - {path}:
            old.unlink(missing_ok=True)


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("*/migrations/*.py"), *(ROOT / name for name in MAKERS)]):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def postgres(run: Run, url: str) -> dict[str, str]:
    """The same of a server that was just started."""
    run.manage("migrate", "-v0", DATABASE_URL=servers.new_data_base(url, NAME))
    return {VARIABLE: NAME}
