"""Houses on a fresh data base: an SQLite file, or a PostgreSQL data base of their own where DATABASE_URL names one."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.processes.house import House, Redis
from tests.stages.servers import Missing, redis_server

SERVER = os.environ.get("DATABASE_URL", "")
#: What the run of all checks has migrated already (tests/stages/templates.py).
TEMPLATE = os.environ.get("TEST_TEMPLATE", "")
ON_POSTGRES = SERVER.startswith(("postgres://", "postgresql://"))


def _sql(statement: str) -> None:
    import psycopg

    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(statement)


def url_of(name: str) -> str:
    """A data base of the server that is tested."""
    return urlsplit(SERVER)._replace(path=f"/{name}").geturl()


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A migrated, empty data base to copy: (folder, name)."""
    folder, name = tmp_path_factory.mktemp("migrated"), f"concord_processes_{os.getpid()}"
    if TEMPLATE:
        if not ON_POSTGRES:
            shutil.copy(TEMPLATE, folder / "concord.sqlite3")
        yield folder, TEMPLATE if ON_POSTGRES else name
        return
    if ON_POSTGRES:
        _sql(f"CREATE DATABASE {name}")
    made = House(folder, url_of(name) if ON_POSTGRES else "")
    made.manage("migrate", "-v0")
    made.stop()
    yield folder, name
    if ON_POSTGRES:
        _sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def make_house(migrated: tuple[Path, str], tmp_path: Path) -> Iterator[Callable[..., House]]:
    houses: list[House] = []
    names: list[str] = []

    def make(redis_url: str = "", *, empty: bool = False, like: House | None = None) -> House:
        """``like``: on a copy of the data base of a house of which nothing runs."""
        source, template = (like.folder, urlsplit(like.database_url).path[1:]) if like else migrated
        folder = tmp_path / f"house{len(houses)}"
        folder.mkdir()
        url = ""
        if ON_POSTGRES:
            names.append(f"concord_house_{os.getpid()}_{len(names)}")
            _sql(f"DROP DATABASE IF EXISTS {names[-1]} WITH (FORCE)")
            _sql(f"CREATE DATABASE {names[-1]}" + ("" if empty else f" TEMPLATE {template}"))
            url = url_of(names[-1])
        elif not empty:
            # With the log beside it, where what was written last may stand.
            for file in source.glob("concord.sqlite3*"):
                shutil.copy(file, folder)
        houses.append(House(folder, url, redis_url))
        return houses[-1]

    yield make
    for house in houses:
        house.stop()
    for name in names:
        _sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def house(make_house: Callable[..., House]) -> House:
    """A house with a web server."""
    made = make_house()
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
