"""The loop costs the same at 2,000 and at 200,000 assignments: the same number of queries, each with a suitable
index.

`SCALE` sets the larger size; CI uses 20,000, `make soak` 200,000.
"""

import json
import os
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from projects.agreement import actions as agreement_actions
from projects.answers.queries import counted_answers
from projects.models import Answer, Assignment, Member, Participant, Project, Round, Unit
from sql.planner import analyze_tables
from tests.builders import build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
SMALL, LARGE = 2_000, int(os.environ.get("SCALE", "20000"))
BATCH = 5_000


def grown(project: Project, worker: User, slots: int, *, seen: bool = True, outcome: str = "skipped") -> Round:
    """A round with shared queue in the middle of its life; ``seen``: whether the planner has statistics of it. A
    quarter is answered by ``worker``, a quarter held by another person, then come a few real propositions; the rest
    is free."""
    me = Member.objects.get(project=project, user=worker)
    other = Member.objects.filter(project=project, role="annotator").exclude(pk=me.pk)[0]
    for number in range(6):
        build_cluster(project, number)
    round = build_round(project, [me, other])
    middle = slots // 2
    Assignment.objects.filter(round=round).delete()
    real = list(Unit.objects.filter(project=project, type="proposition").order_by("pk"))
    now = timezone.now()
    for start in range(0, slots, BATCH):
        units = Unit.objects.bulk_create(
            Unit(project=project, type="filler", key=f"f{n}", context=n // 5, position=n % 5)
            for n in range(start, min(start + BATCH, slots))
        )
        rows = Assignment.objects.bulk_create(
            _slot(round, unit, start + n, me if start + n < middle // 2 else other if start + n < middle else None, now)
            for n, unit in enumerate(units)
        )
        _answer([row for row in rows if row.person_id == me.pk], me, round, outcome)
    Assignment.objects.bulk_create(
        Assignment(round=round, unit=unit, number=1, position=middle - len(real) + n) for n, unit in enumerate(real)
    )
    Participant.objects.filter(round=round, member=me).update(cursor=middle - len(real) - 1)
    if seen:
        analyze_tables(Assignment, Answer, Unit)
    return round


def _slot(round: Round, unit: Unit, position: int, person: Member | None, now: Any) -> Assignment:
    until = now + timedelta(hours=1) if person else None
    # Free fillers come after the real propositions, so that those are offered first.
    return Assignment(
        round=round,
        unit=unit,
        number=1,
        position=position + (100 if person is None else 0),
        person=person,
        leased_until=until,
    )


def _answer(slots: list[Assignment], me: Member, round: Round, outcome: str) -> None:
    answers = Answer.objects.bulk_create(
        Answer(
            assignment=slot,
            author=me,
            revision=1,
            outcome=outcome,
            reason="other" if outcome == "skipped" else "",
            guideline_id=round.guideline_id,
            body_digest="",
            digest="",
            shown=1,
            received_at=timezone.now(),
        )
        for slot in slots
    )
    for slot, answer in zip(slots, answers, strict=True):
        slot.revision, slot.current_answer = 1, answer
    Assignment.objects.bulk_update(slots, ["revision", "current_answer"], batch_size=300)


class Work:
    """One person's requests, and the queries of each."""

    def __init__(self, user: User, round: Round) -> None:
        self.client = APIClient()
        self.client.force_login(user)
        self.round = round
        self.cards: dict[int, Any] = {}
        self.held: list[int] = []

    def next(self) -> list[str]:
        with CaptureQueriesContext(connection) as seen:
            reply = self.client.get(f"/api/v1/rounds/{self.round.pk}/next/")
        self._take(reply, 200)
        return [query["sql"] for query in seen.captured_queries]

    def answer(self) -> list[str]:
        card = self.cards[self.held[0]]
        body = {
            "assignment": card["assignment"],
            "revision": 0,
            "kind": "label",
            "outcome": "answered",
            "shown": card["shown"],
            "value": label_value(),
            "have": list(self.cards),
        }
        address, content = f"/api/v1/answers/{uuid.uuid4()}/", json.dumps(body)
        with CaptureQueriesContext(connection) as seen:
            reply = self.client.put(address, content, content_type="application/json")
        self._take(reply, 201)
        return [query["sql"] for query in seen.captured_queries]

    def _take(self, reply: Any, status: int) -> None:
        assert reply.status_code == status, reply.json()
        self.held = reply.json()["held"]
        self.cards |= {card["assignment"]: card for card in reply.json()["fetched"]}


def plans(queries: list[str], of: str = '"projects_a') -> list[tuple[str, str]]:
    """Return (statement, plan) of statements on assignments or answers, or on another table."""
    found = []
    with connection.cursor() as cursor:
        for sql in queries:
            if sql.startswith(("SELECT", "UPDATE")) and of in sql:
                cursor.execute(("EXPLAIN " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN ") + sql)
                found.append((sql, "\n".join(" ".join(map(str, row)) for row in cursor.fetchall())))
    return found


def rows_read(sql: str) -> int:
    """Return how many rows PostgreSQL reads for a statement, including discarded ones; the statement is rolled back."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}")
        plan = cursor.fetchone()[0]
        transaction.set_rollback(True)
    return _rows_of((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])


def _rows_of(node: dict[str, Any]) -> int:
    removed = sum(value for key, value in node.items() if key.startswith("Rows Removed"))
    own = (node["Actual Rows"] + removed) * node["Actual Loops"]
    return int(own) + sum(_rows_of(inner) for inner in node.get("Plans", ()))


def whole_table(plan: str) -> bool:
    """Return whether a plan scans all assignments or answers."""
    if connection.vendor == "postgresql":
        return "Seq Scan on projects_assignment" in plan or "Seq Scan on projects_answer" in plan
    return any(
        line.split("SCAN ")[1].split()[0] in ("projects_assignment", "projects_answer", "U0")
        for line in plan.splitlines()
        if "SCAN " in line
    )


def test_next_and_answer_cost_the_same_however_large_the_round_is(project: Project, ann1: User, ann2: User) -> None:
    counts = []
    for slots in (SMALL, LARGE):
        home = project
        if slots == LARGE:
            home = Project.objects.create(slug="large", name="Large")
            for i, user in enumerate((ann1, ann2)):
                Member.objects.create(project=home, user=user, role="annotator", pseudonym=f"R{i}")
        work = Work(ann1, grown(home, ann1, slots))
        queries = [work.next(), work.next(), work.answer(), work.answer()]
        # A person's position is stored once in several answers.
        counts.append([len([sql for sql in q if not sql.startswith('UPDATE "projects_participant"')]) for q in queries])
    assert counts[0] == counts[1], f"queries at {SMALL} and at {LARGE} slots"

    seen = plans([sql for q in queries for sql in q])
    walking = [(sql, plan) for sql, plan in seen if whole_table(plan)]
    assert not walking, f"{len(walking)} statements walk a whole table, first:\n{walking[0][0]}\n{walking[0][1]}"
    for index, part in {
        "assignment_free": '"leased_until" IS NULL AND',
        "assignment_leased": '"leased_until" <=',
    }.items():
        searches = [plan for sql, plan in seen if sql.startswith("SELECT") and part in sql]
        assert searches, f"no statement searches as {index} serves"
        assert all(index in plan for plan in searches), f"{index} is not used:\n" + "\n---\n".join(searches)


def test_the_check_of_plans_finds_a_full_table_scan(project: Project, ann1: User, ann2: User) -> None:
    grown(project, ann1, SMALL)
    [(_, plan)] = plans(['SELECT COUNT(*) FROM "projects_assignment" WHERE "position" % 7 = 3'])
    assert whole_table(plan)


def _saw(tables: str, of: str = "projects") -> None:
    """The planner last analysed an app's tables when they were empty, or never."""
    tuples = {"empty": 0, "never": -1}[tables]
    with connection.cursor() as cursor:
        known = "DELETE FROM pg_statistic USING pg_class c WHERE starelid = c.oid AND relname LIKE %s"
        cursor.execute(known, [f"{of}%"])
        cursor.execute("UPDATE pg_class SET relpages = 0, reltuples = %s WHERE relname LIKE %s", [tuples, f"{of}%"])


@pytest.fixture
def nobody_looked() -> None:
    """Committed tests may have left statistics of small tables, in which a scan is no fault."""
    if connection.vendor == "postgresql":
        for app in ("projects", "annotation"):
            _saw("never", of=app)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans by its indexes alone")
@pytest.mark.usefixtures("nobody_looked")
@pytest.mark.parametrize(
    "saw", ["never", *(pytest.param(saw, marks=pytest.mark.long) for saw in ("empty", "older rounds"))]
)
def test_no_plan_of_the_loop_needs_statistics(project: Project, ann1: User, ann2: User, saw: str) -> None:
    grown(project, ann1, SMALL)
    fresh = Project.objects.create(slug="fresh", name="Fresh")
    for i, user in enumerate((ann1, ann2)):
        Member.objects.create(project=fresh, user=user, role="annotator", pseudonym=f"R{i}")
    work = Work(ann1, grown(fresh, ann1, 4 * SMALL, seen=False))
    if saw != "older rounds":
        _saw(saw)
    statements = [sql for queries in (work.next(), work.answer(), work.answer()) for sql in queries]
    # A person's answers are counted at the start: this grows with their number.
    loop = [sql for sql, _ in plans(statements, of="") if "COUNT(*)" not in sql]
    most, dearest = max((rows_read(sql), sql) for sql in loop)
    assert most < 100, f"reads {most} rows: {dearest}"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans by its indexes alone")
@pytest.mark.usefixtures("nobody_looked")
@pytest.mark.parametrize(
    "saw", ["never", *(pytest.param(saw, marks=pytest.mark.long) for saw in ("empty", "older rounds"))]
)
def test_no_plan_of_what_counts_in_a_round_needs_statistics(project: Project, ann1: User, ann2: User, saw: str) -> None:
    grown(project, ann1, SMALL)
    fresh = Project.objects.create(slug="fresh", name="Fresh")
    for i, user in enumerate((ann1, ann2)):
        Member.objects.create(project=fresh, user=user, role="annotator", pseudonym=f"R{i}")
    slots = 4 * SMALL
    round = grown(fresh, ann1, slots, seen=False, outcome="answered")
    if saw != "older rounds":
        _saw(saw)
    with CaptureQueriesContext(connection) as seen:
        answers = agreement_actions.count_inputs(round)["answers"]
        assert len(list(counted_answers(round))) == answers == slots // 4
    statements = [query["sql"] for query in seen.captured_queries]
    most, dearest = max((rows_read(sql), sql) for sql, _ in plans(statements, of=""))
    # Repeated rows of each, but not one row per pair of answer and assignment.
    assert most < 20 * slots, f"reads {most} rows: {dearest[:2000]}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans by its indexes alone")
def test_opening_a_round_has_the_planner_look_at_it(project: Project, ann1: User) -> None:
    for number in range(6):
        build_cluster(project, number)
    build_round(project, list(Member.objects.filter(user=ann1)))
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'projects_assignment'")
        assert cursor.fetchone()[0] == Assignment.objects.count() > 0
