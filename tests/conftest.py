"""One cast for every test: a lead, two annotators, an evaluator, and a stranger who is in no project."""

from collections.abc import Callable, Iterator

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import User
from audit import triggers
from projects.models import Member, Project

#: What a test asks for when it is about rows.
ROWS = {"db", "transactional_db", "live_server", "django_db_setup"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--with-data-base", action="store_true",
        help="Leave out the tests that ask for no data base: on a second one they would show nothing new.",
    )  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--with-data-base"):
        return
    about_rows = {
        item for item in items if ROWS & set(getattr(item, "fixturenames", ())) or item.get_closest_marker("django_db")
    }
    config.hook.pytest_deselected(items=[item for item in items if item not in about_rows])
    items[:] = [item for item in items if item in about_rows]


@pytest.fixture(autouse=True, scope="session")
def empty_tables_between_transactional_tests() -> Iterator[None]:
    """Emptying tables is what the append-only triggers refuse: they step aside for it, and for nothing else."""
    operations = type(connection.ops)
    flush = operations.execute_sql_flush

    def flush_without_triggers(self: object, sql_list: list[str]) -> None:
        with triggers.suspended(connection):
            flush(self, sql_list)  # type: ignore[arg-type]

    operations.execute_sql_flush = flush_without_triggers  # type: ignore[method-assign,assignment]
    yield
    operations.execute_sql_flush = flush  # type: ignore[method-assign]


@pytest.fixture
def client_of() -> Callable[[User], APIClient]:
    """``client_of(ann1)``: a client that is signed in."""

    def client(user: User) -> APIClient:
        signed_in = APIClient()
        signed_in.force_login(user)
        return signed_in

    return client


def person(name: str) -> User:
    return User.objects.create_user(email=f"{name}@example.org", name=name.title())


@pytest.fixture
def lead(db: None) -> User:
    return person("lead")


@pytest.fixture
def ann1(db: None) -> User:
    return person("ann1")


@pytest.fixture
def ann2(db: None) -> User:
    return person("ann2")


@pytest.fixture
def evaluator(db: None) -> User:
    return person("evaluator")


@pytest.fixture
def stranger(db: None) -> User:
    return person("stranger")


@pytest.fixture
def project(lead: User, ann1: User, ann2: User, evaluator: User) -> Project:
    project = Project.objects.create(slug="eye", name="Eye")
    for i, (user, role) in enumerate(
        ((lead, "lead"), (ann1, "annotator"), (ann2, "annotator"), (evaluator, "evaluator"))
    ):
        Member.objects.create(project=project, user=user, role=role, pseudonym=f"R{i}")
    return project
