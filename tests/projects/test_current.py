"""Current values: the newest uncontested decision on a field, read with plans that need no statistics."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.clusters.gold import current_labels, gold_labels
from annotation.models import Label
from projects.gold.queries import current_decisions, current_values, newest_decisions
from projects.models import Decision, Import, Origin, Project, Unit
from projects.rounds import choosing
from tests.builders import build_cluster
from tests.projects.test_scale import plans, rows_read

pytestmark = pytest.mark.django_db
UNITS = 20_000
FIELDS = ("polarity", "polarity_cue", "modality", "modality_cue")


@pytest.fixture
def imported(project: Project) -> Import:
    return Import.objects.create(
        project=project, format="m3", level="3", file_name="f", sha256="0" * 64, size=1, created_at=timezone.now()
    )


def decide(unit: Unit, field: str, origin: str, imported: Import | None = None, kind: str = "label") -> Decision:
    # Besides an import's, only a contested decision has no answer.
    return Decision.objects.create(
        unit=unit, kind=kind, field=field, origin=origin, imported=imported, decided_at=timezone.now(), digest="0" * 64
    )


def test_the_newest_decision_is_current_and_a_contest_keeps_the_value(project: Project, imported: Import) -> None:
    one, other = Unit.objects.filter(pk__in=[p.unit_id for p in build_cluster(project).propositions.all()])[:2]
    for unit in (one, other):
        decide(unit, "polarity", Origin.IMPORTED, imported)
    newest = decide(one, "polarity", Origin.IMPORTED, imported)
    contest = decide(one, "modality", Origin.CONTESTED)
    settled = decide(other, "polarity", Origin.CONTESTED)
    again = decide(other, "polarity", Origin.IMPORTED, imported)
    elsewhere = decide(one, "relation", Origin.CONTESTED, kind="discourse")

    assert set(Decision.objects.current()) == {newest, again}
    assert set(Decision.objects.contested()) == {contest, elsewhere}
    assert settled not in Decision.objects.contested()
    assert set(Decision.objects.filter(kind="label").contested()) == {contest}
    assert current_decisions([one.pk, other.pk], "label") == {
        (one.pk, "polarity"): newest,
        (other.pk, "polarity"): again,
    }
    found = newest_decisions([one.pk], "label", "discourse")
    assert found == {(one.pk, "label", "polarity"): newest}


def test_filters_of_decisions_do_not_hide_later_ones(project: Project, imported: Import) -> None:
    unit = build_cluster(project).propositions.all()[0].unit
    decide(unit, "polarity", Origin.CONTESTED)
    decide(unit, "polarity", Origin.IMPORTED, imported)
    assert not Decision.objects.filter(origin=Origin.CONTESTED).contested()
    decide(unit, "polarity", Origin.CONTESTED)
    assert Decision.objects.filter(origin=Origin.IMPORTED).current().get()


def test_values_of_many_units_take_the_same_queries_as_of_one(project: Project, imported: Import) -> None:
    rows = [p.unit for number in range(3) for p in build_cluster(project, number).propositions.all()]
    for unit in rows:
        Label.objects.create(unit=unit, imported=imported, polarity="negative", modality="weak")
        for field in FIELDS:
            decide(unit, field, Origin.IMPORTED, imported)
    costs = []
    for units in (rows[:1], rows):
        with CaptureQueriesContext(connection) as seen:
            values = current_values(units, "label")
            labels = gold_labels([u.pk for u in units])
        costs.append(len(seen))
        assert {v["polarity"] for v in values.values()} == {"negative"}
        assert {g["modality"].value for g in labels.values()} == {"weak"}
    assert costs[0] == costs[1]


GROWTH = (
    "INSERT INTO projects_unit (project_id, type, key, context, position, revision)"
    " SELECT %(project)s, 'proposition', 'u' || n, 0, 0, 1 FROM generate_series(1, %(units)s) n",
    "INSERT INTO annotation_label (unit_id, imported_id, polarity, modality)"
    " SELECT id, %(import)s, 'positive', 'weak' FROM projects_unit WHERE key LIKE 'u%%'",
    "INSERT INTO projects_decision (digest, unit_id, kind, field, origin, imported_id, reason, decided_at)"
    " SELECT repeat('0', 64), id, 'label', field, 'imported', %(import)s, '', now()"
    " FROM projects_unit CROSS JOIN unnest(%(fields)s::text[]) field WHERE key LIKE 'u%%' ORDER BY id",
)


def grown(project: Project, imported: Import) -> list[int]:
    """Create units with an imported label each, whose four fields are decided; return their ids in order.
    (PostgreSQL only.)"""
    with connection.cursor() as cursor:
        for statement in GROWTH:
            given: dict[str, Any] = {
                "project": project.pk,
                "import": imported.pk,
                "units": UNITS,
                "fields": list(FIELDS),
            }
            cursor.execute(statement, given)
    return list(Unit.objects.filter(key__startswith="u").order_by("pk").values_list("pk", flat=True))


#: Possible planner statistics: pages and rows. The last one is what an ANALYZE during a bulk insert leaves, which sees
#: none of the new rows.
KNOWN = {
    "nothing": ("0", "-1"),
    "that they were empty": ("0", "0"),
    "pages without rows": ("GREATEST(1, pg_relation_size(oid) / 8192)", "0"),
}
OURS = "(relname LIKE 'projects%' OR relname LIKE 'annotation%')"


def planner_knows(what: str) -> None:
    pages, rows = KNOWN[what]
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM pg_statistic USING pg_class c WHERE starelid = c.oid AND {OURS}")
        cursor.execute(
            f"UPDATE pg_class SET relpages = {pages}, reltuples = {rows} WHERE relkind IN ('r', 'i') AND {OURS}"
        )


def statement(work: Callable[[], Any]) -> str:
    with CaptureQueriesContext(connection) as seen:
        work()
    [query] = seen.captured_queries
    return str(query["sql"])


def _found(units: Sequence[int]) -> list[QuerySet[Decision]]:
    of_these = Decision.objects.filter(unit__in=units)
    return [of_these.current(), of_these.contested()]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans by its indexes alone")
def test_current_values_are_found_without_statistics(project: Project, imported: Import) -> None:
    ids = grown(project, imported)
    half = len(ids) // 2
    dear = []
    for known in ("everything", *KNOWN):
        if known == "everything":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        else:
            planner_knows(known)
        for many in (1, 500):
            units = ids[half : half + many]
            # Decisions are read from index and table, with one lookup of the newest per row.
            allowed = {statement(partial(current_decisions, units, "label")): 2 * len(FIELDS) * many}
            allowed |= {statement(partial(list, rows)): 40 * many for rows in _found(units)}
            labels = current_labels("polarity").filter(unit__in=units).order_by()
            allowed[statement(partial(list, labels))] = 40 * many + UNITS  # may be scanned once
            # Filters by decisions read all decisions of the project once.
            filters: tuple[dict[str, Any], ...] = ({"contested": True}, {"origin": "imported"}, {"gold": "without"})
            if many == 1:
                allowed |= {statement(choosing.units(project, "label", f).count): 40 * UNITS for f in filters}
            for sql, most in allowed.items():
                if (read := rows_read(sql)) > most:
                    dear.append(f"PostgreSQL knows {known}: {read} rows of {most}\n{plans([sql], of='')[0]}")
    assert not dear, f"{len(dear)} statements read too much, first:\n{dear[0]}"
