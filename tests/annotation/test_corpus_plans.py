"""Rows of a large corpus are looked up by their keys, whatever statistics the planner has."""

from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from annotation.corpus import statistics
from annotation.corpus.queries import STATES, clusters
from annotation.models import Proposition, Review, Study
from projects.models import Import, Project, Unit
from tests.projects.test_current import imported, planner_knows, statement  # noqa: F401
from tests.projects.test_scale import rows_read

pytestmark = pytest.mark.django_db
CLUSTERS, TEXTS = 2_000, 3
#: Rows that each step of a plan may return per text: text, unit, labels, and decisions on two fields.
EACH = 25
GROWTH = (
    "INSERT INTO projects_unit (project_id, type, key, context, position, revision)"
    " SELECT %(project)s, 'cluster', 'c' || n, 0, n, 1 FROM generate_series(1, %(clusters)s) n",
    "INSERT INTO annotation_cluster (key, position, imported_id, project_id, unit_id, review_id, search)"
    " SELECT key, position, %(import)s, %(project)s, id, %(review)s, '' FROM projects_unit WHERE type = 'cluster'",
    "INSERT INTO projects_unit (project_id, type, key, context, position, revision)"
    " SELECT %(project)s, 'proposition', key || '/' || k, 0, k, 1 FROM annotation_cluster, generate_series(0, 2) k",
    "INSERT INTO annotation_proposition (position, text, cluster_id, unit_id, study_id, version)"
    " SELECT u.position, 'It may help.', c.id, u.id, CASE WHEN u.position > 0 THEN %(study)s END, 0"
    " FROM projects_unit u JOIN annotation_cluster c ON c.key = split_part(u.key, '/', 1) WHERE u.type = 'proposition'",
    "INSERT INTO annotation_label (unit_id, imported_id, polarity, modality)"
    " SELECT id, %(import)s, 'positive', 'weak' FROM projects_unit WHERE type = 'proposition'",
    # Every tenth cluster lacks the label of its last text.
    "INSERT INTO projects_decision (digest, unit_id, kind, field, origin, imported_id, reason, decided_at)"
    " SELECT repeat('0', 64), u.id, 'label', field, 'imported', %(import)s, '', now()"
    " FROM projects_unit u JOIN annotation_proposition p ON p.unit_id = u.id"
    " CROSS JOIN unnest(ARRAY['polarity', 'modality']) field WHERE NOT (p.position = 2 AND p.cluster_id %% 10 = 0)",
)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans by its indexes alone")
def test_states_are_found_without_statistics(project: Project, lead: User, imported: Import) -> None:  # noqa: F811
    unit = Unit.objects.create(project=project, type="review", key="1")
    review = Review.objects.create(project=project, pmid="1", unit=unit)
    given = {
        "project": project.pk,
        "import": imported.pk,
        "review": review.pk,
        "clusters": CLUSTERS,
        "study": Study.objects.create(project=project, pmid="2").pk,
    }
    with connection.cursor() as cursor:
        for sql in GROWTH:
            cursor.execute(sql, given)
    for known in ("everything", "nothing", "that they were empty"):
        if known == "everything":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        else:
            planner_knows(known)
        found = {state: clusters(project, {"state": state}) for state in STATES}
        assert found["unlabelled"].count() == CLUSTERS / 10
        read = {state: rows_read(statement(partial(rows.count))) for state, rows in found.items()}
        assert max(read.values()) <= EACH * CLUSTERS * TEXTS, (known, read)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL plans by its statistics")
def test_sqlite_finds_the_texts_of_a_batch_by_their_ids(corpus: Project) -> None:
    with CaptureQueriesContext(connection) as seen:
        statistics.table(corpus)
    table = Proposition._meta.db_table
    batches = [q["sql"] for q in seen.captured_queries if f'"{table}"."id" IN' in q["sql"]]
    assert batches
    for sql in batches:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            assert cursor.fetchone()[3] == f"SEARCH {table} USING INTEGER PRIMARY KEY (rowid=?)"
