"""Sites with a fresh database: an SQLite file, or a PostgreSQL database if DATABASE_URL names a server."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.processes.site import Redis, Site
from tests.stages.servers import Missing, redis_server

SERVER = os.environ.get("DATABASE_URL", "")
#: Migrated database of the current run (tests/stages/templates.py).
TEMPLATE = os.environ.get("TEST_TEMPLATE", "")
ON_POSTGRES = SERVER.startswith(("postgres://", "postgresql://"))


def _sql(statement: str) -> None:
    import psycopg

    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(statement)


def url_of(name: str) -> str:
    """Return the URL of a database on the tested server."""
    return urlsplit(SERVER)._replace(path=f"/{name}").geturl()


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Return (folder, name) of a migrated, empty database to copy."""
    folder, name = tmp_path_factory.mktemp("migrated"), f"concord_processes_{os.getpid()}"
    if TEMPLATE:
        if not ON_POSTGRES:
            shutil.copy(TEMPLATE, folder / "concord.sqlite3")
        yield folder, TEMPLATE if ON_POSTGRES else name
        return
    if ON_POSTGRES:
        _sql(f"CREATE DATABASE {name}")
    made = Site(folder, url_of(name) if ON_POSTGRES else "")
    made.manage("migrate", "-v0")
    made.stop()
    yield folder, name
    if ON_POSTGRES:
        _sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def make_site(migrated: tuple[Path, str], tmp_path: Path) -> Iterator[Callable[..., Site]]:
    sites: list[Site] = []
    names: list[str] = []

    def make(redis_url: str = "", *, empty: bool = False, like: Site | None = None) -> Site:
        """``like``: copy the database of a stopped site."""
        source, template = (like.folder, urlsplit(like.database_url).path[1:]) if like else migrated
        folder = tmp_path / f"house{len(sites)}"
        folder.mkdir()
        url = ""
        if ON_POSTGRES:
            names.append(f"concord_house_{os.getpid()}_{len(names)}")
            _sql(f"DROP DATABASE IF EXISTS {names[-1]} WITH (FORCE)")
            _sql(f"CREATE DATABASE {names[-1]}" + ("" if empty else f" TEMPLATE {template}"))
            url = url_of(names[-1])
        elif not empty:
            # Include the write-ahead log, which may hold the latest changes.
            for file in source.glob("concord.sqlite3*"):
                shutil.copy(file, folder)
        sites.append(Site(folder, url, redis_url))
        return sites[-1]

    yield make
    for site in sites:
        site.stop()
    for name in names:
        _sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    """A site with a web server."""
    made = make_site()
    made.start_web()
    return made


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    try:
        program = redis_server()
    except Missing as missing:
        pytest.skip(str(missing))
    made = Redis(tmp_path, program)
    yield made
    made.stop()
