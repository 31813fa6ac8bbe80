"""An empty data base with all migrations, made once in a run: whoever tests copies it in place of migrating."""

import hashlib
import shutil
import threading

from . import servers
from .run import DATA, ROOT, Run

#: What the copying is told by: the path of an SQLite file, or the name of a data base of the server that is tested.
VARIABLE = "TEST_TEMPLATE"
NAME = "concord_template"
KEPT = ROOT / ".cache" / "templates"
#: What a template is made of, beside the migrations.
MAKERS = ("audit/triggers.py", "requirements.txt", "config/settings.py")
_lock = threading.Lock()


def sqlite(run: Run, *, keep: bool = False) -> dict[str, str]:
    """What the environment says of the template on SQLite. ``keep``: for the next run, too, as long as it is the same;
    the run of all checks makes its own, so that it sees what making one says."""
    path = DATA / "template.sqlite3"
    kept = KEPT / f"{_digest()}.sqlite3"
    with _lock:
        if not path.exists() and keep and kept.exists():
            shutil.copy(kept, path)
        if not path.exists():
            fresh = path.with_suffix(".new")
            run.manage("migrate", "-v0", DATABASE_URL=f"sqlite:///{fresh}")
            fresh.rename(path)
        if keep and not kept.exists():
            shutil.rmtree(KEPT, ignore_errors=True)
            KEPT.mkdir(parents=True)
            shutil.copy(path, kept)
    return {VARIABLE: str(path)}


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("*/migrations/*.py"), *(ROOT / name for name in MAKERS)]):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def postgres(run: Run, url: str) -> dict[str, str]:
    """The same of a server that was just started."""
    run.manage("migrate", "-v0", DATABASE_URL=servers.new_data_base(url, NAME))
    return {VARIABLE: NAME}
