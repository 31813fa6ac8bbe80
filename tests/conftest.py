"""Shared fixtures: a lead, two annotators, an evaluator, and a stranger without a project."""

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import override_settings
from rest_framework.test import APIClient
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]

from accounts.models import User
from projects.models import Member, Project
from tests import dead_rows, engine, fast_flush
from tests.stages import templates

#: The example kind in tests/two_texts needs its own settings.
collect_ignore = [] if "tests.two_texts.apps.TwoTextsConfig" in settings.INSTALLED_APPS else ["two_texts"]
#: A migrated, empty database to copy: from the current run of all stages, or from an earlier pytest run on SQLite
#: (tests/stages/templates.py).
BY_HAND = connection.vendor == "sqlite" and os.environ["DJANGO_SETTINGS_MODULE"] == "config.settings"
TEMPLATE = os.environ.get("TEST_TEMPLATE", "") or (templates.kept() if BY_HAND else "")

# No deadlines: on a busy machine they measure the load. Growth is tested with tests/growth.py.
EXAMPLES = 200 if os.environ.get("SOAK") else 30
hypothesis.settings.register_profile(
    "concord", max_examples=EXAMPLES, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("concord")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that depend on the engine, or run on SQLite only (tests/engine.py)."""
    for item in items:
        rows = item.get_closest_marker("django_db")
        if engine.concerns(item.path) or (rows and (rows.kwargs.get("transaction") or rows.args[:1] == (True,))):
            item.add_marker(pytest.mark.engine)
        if engine.on_sqlite_alone(item.path):
            item.add_marker(pytest.mark.sqlite)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude modules and collected tests from garbage collection, which would scan them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    dead_rows.swept(item.config)


@pytest.fixture(scope="session")
def django_db_keepdb(request: pytest.FixtureRequest) -> bool:
    """A copied database has its tables already and is deleted with the run."""
    return bool(TEMPLATE or request.config.getvalue("reuse_db"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Copy the template for each process instead of migrating."""
    test = connection.settings_dict["TEST"]
    if TEMPLATE and connection.vendor == "sqlite":
        shutil.copy(TEMPLATE, test["NAME"])
    elif TEMPLATE:
        test["TEMPLATE"] = TEMPLATE


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    with django_db_blocker.unblock():
        fast_flush.remember()
    if BY_HAND and not TEMPLATE:
        templates.keep(connection.settings_dict["NAME"])


@pytest.fixture(autouse=True, scope="session")
def tables_emptied_between_transactional_tests() -> Iterator[None]:
    with fast_flush.in_place_of_flushes():
        yield


@pytest.fixture(autouse=True, scope="session")
def passwords_hashed_fast() -> Iterator[None]:
    """Hash passwords fast: the tests check who gets in, not the cost of guessing."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True, scope="session")
def files_of_the_pages_looked_for_once() -> Iterator[None]:
    """Scan the static files once; each test client would scan them again."""
    look, known = WhiteNoiseMiddleware.add_files_from_finders, dict[tuple[Any, ...], dict[str, Any]]()

    def look_once(self: WhiteNoiseMiddleware) -> None:
        key = (self.static_prefix, self.max_age, tuple(settings.STATICFILES_DIRS))
        if key not in known:
            look(self)
            known[key] = dict(self.files)
        self.files.update(known[key])

    WhiteNoiseMiddleware.add_files_from_finders = look_once
    yield
    WhiteNoiseMiddleware.add_files_from_finders = look


@pytest.fixture(scope="module")
def shared_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A transaction around all tests of a module, for rows that are expensive to create.

    A fixture of the module creates the rows; each test is rolled back to them. Tests of the module may not use real
    transactions.
    """
    with django_db_blocker.unblock():
        around = transaction.atomic()
        around.__enter__()
        try:
            yield
        finally:
            transaction.set_rollback(True)
            around.__exit__(None, None, None)


@pytest.fixture
def client_of() -> Callable[[User], APIClient]:
    """``client_of(ann1)`` returns a signed-in client."""

    def client(user: User) -> APIClient:
        api_client = APIClient()
        api_client.force_login(user)
        return api_client

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
