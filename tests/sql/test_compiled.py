"""Compiled statements return the same rows as their querysets, with changing values."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django
import pytest
from django.contrib.sessions.models import Session
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiToken, SignInLink, User
from accounts.sessions import Backend, SessionStore
from sql.compiled import CHECKED_DJANGO, CompiledSelect, CompiledUpdate, insert

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC)


def test_private_django_functions_were_checked_for_this_version() -> None:
    """On failure, check the private parts that `sql.compiled` lists, then update `CHECKED_DJANGO`."""
    assert django.VERSION[:2] == CHECKED_DJANGO


def test_private_django_functions_are_used_in_listed_places_only() -> None:
    private = re.compile(r"django\.db\.models\.sql|get_related_populators|get_compiler|klass_info|_prepare_cursor")
    root = Path(__file__).parents[2]
    apps = [
        "accounts",
        "annotation",
        "api",
        "audit",
        "config",
        "evaluation",
        "generation",
        "operations",
        "projects",
        "releases",
        "sql",
    ]
    users = {
        str(path.relative_to(root))
        for app in apps
        for path in (root / app).rglob("*.py")
        if private.search(path.read_text())
    }
    assert users == {"sql/compiled.py"}


def token(user: User, name: str, **fields: object) -> ApiToken:
    return ApiToken.objects.create(user=user, name=name, token_hash=name * 8, hint="x", **fields)


def test_the_same_statement_runs_with_other_values(lead: User, ann1: User) -> None:
    read = CompiledSelect(
        lambda user, name: ApiToken.objects.filter(user=user, name=name).order_by("pk"), user=int, name=str
    )
    mine, theirs = token(lead, "a"), token(ann1, "b", expires_at=NOW)
    assert read.all(user=lead.pk, name="a") == [mine]
    assert read.all(user=lead.pk, name="b") == []
    (found,) = read.all(user=ann1.pk, name="b")
    assert found == theirs
    assert {f.attname: getattr(found, f.attname) for f in ApiToken._meta.fields} == ApiToken.objects.values().get(
        pk=theirs.pk
    )


def test_times_related_rows_and_annotations_come_as_from_a_queryset(lead: User, ann1: User) -> None:
    token(lead, "a", expires_at=NOW)
    links = SignInLink.objects.filter(user=OuterRef("user"))
    read = CompiledSelect(
        lambda before, user: (
            ApiToken.objects.select_related("user")
            .annotate(has_link=Exists(links.filter(user=user)))
            .filter(expires_at__lte=before)
        ),
        before=datetime,
        user=int,
    )
    assert read.first(before=NOW - timedelta(microseconds=1), user=lead.pk) is None
    found = read.first(before=NOW, user=lead.pk)
    assert found is not None
    assert (found.expires_at, found.has_link) == (NOW, False)  # type: ignore[attr-defined]
    with CaptureQueriesContext(connection) as queries:
        assert found.user.preferences == lead.preferences
    assert len(queries) == 0


def test_an_update_returns_the_number_of_changed_rows(lead: User, ann1: User) -> None:
    change = CompiledUpdate(
        lambda pk, was, name, at: (ApiToken.objects.filter(pk=pk, name=was), {"name": name, "last_used_at": at}),
        pk=int,
        was=str,
        name=str,
        at=datetime,
    )
    made = token(lead, "a")
    assert change.run(pk=made.pk, was="other", name="b", at=NOW) == 0
    assert change.run(pk=made.pk, was="a", name="b", at=NOW) == 1
    made.refresh_from_db()
    assert (made.name, made.last_used_at) == ("b", NOW)


def test_rows_are_inserted_in_one_statement_and_know_their_ids(lead: User) -> None:
    rows = [ApiToken(user=lead, name=n, token_hash=n * 8, hint="x", expires_at=None) for n in "abc"]
    with CaptureQueriesContext(connection) as queries:
        insert(rows)
        insert([])
    assert len(queries) == 1
    assert {r.pk: r.name for r in rows} == dict(ApiToken.objects.values_list("pk", "name"))
    assert all(r.created_at is not None for r in ApiToken.objects.all())
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([ApiToken(user=lead, name="d", token_hash="a" * 8, hint="x")])


def test_an_error_in_a_transaction_leaves_the_statement_usable(lead: User) -> None:
    """PostgreSQL keeps the prepared statement; a failed transaction must not remove it."""
    read = CompiledSelect(lambda pk: User.objects.filter(pk=pk), pk=int)
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([*read.all(pk=lead.pk), User(email=lead.email, name="Twice")])
    assert read.first(pk=lead.pk) == lead


def test_a_number_too_large_for_a_column_finds_nothing(lead: User) -> None:
    read = CompiledSelect(lambda pk: User.objects.filter(pk=pk), pk=int)
    assert read.all(pk=10**30) == []
    assert read.first(pk=lead.pk) == lead


def test_an_unused_statement_parameter_is_an_error(lead: User) -> None:
    read = CompiledSelect(lambda pk, other: User.objects.filter(pk=pk), pk=int, other=uuid.UUID)
    with pytest.raises(ValueError, match="does not use the parameters other"):
        read.all(pk=1, other=uuid.uuid4())


def test_a_session_is_found_until_it_expires_and_a_user_until_made_inactive(lead: User) -> None:
    store = SessionStore()
    store["word"] = "kept"
    store.create()
    assert SessionStore(store.session_key)["word"] == "kept"
    Session.objects.update(expire_date=datetime(2020, 1, 1, tzinfo=UTC))
    gone = SessionStore(store.session_key)
    assert gone.get("word") is None
    assert gone.session_key is None
    assert SessionStore("nul\0nul").get("word") is None
    assert Backend().get_user(lead.pk) == lead
    User.objects.update(is_active=False)
    assert Backend().get_user(lead.pk) is None
