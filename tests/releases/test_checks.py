"""Checks before a release is frozen."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from audit import triggers
from projects.gold.actions import finish_round
from projects.models import Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.sources.checks import run
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db


def failing(project: Project) -> dict[str, str]:
    return {c["name"]: c["detail"] for c in run(project) if not c["passed"]}


def test_settings_that_are_missing_are_named_until_they_are_there(project: Project) -> None:
    assert set(failing(project)) == {"licence", "citation", "description"}
    Project.objects.update(licence="CC-BY-4.0", citation="Doe 2026", description="Eyes.")
    project.refresh_from_db()
    assert failing(project) == {}


def test_every_check_says_what_it_means_and_what_to_do_on_which_page(project: Project) -> None:
    found = run(project)
    assert all(c["title"] and c["means"] and c["advice"] for c in found)
    assert {c["name"]: c["page"] for c in found}["no contests"] == "corpus?state=contested"
    assert len({c["title"] for c in found}) == len(found) == 8


def test_open_rounds_contests_and_clusters_without_gold_are_counted(project: Project, ann1: User, ann2: User) -> None:
    build_cluster(project, 0, inputs=0)
    build_cluster(project, 1, inputs=0)
    people = [Member.objects.get(user=u) for u in (ann1, ann2)]
    round = build_round(project, people, overlap=2, filters={"cluster": "DEMO0000_0"})
    assert failing(project)["rounds closed"] == "Open rounds: round."
    for user, polarity in ((ann1, "positive"), (ann2, "negative")):
        answer(user, next_assignments(user=user, round=round)[0], label_value(polarity))
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    found = failing(project)
    assert "rounds closed" not in found
    assert found["no contests"].split()[0] == "2"
    assert found["gold complete"].startswith("2 clusters")


def test_release_checks_report_missing_triggers(project: Project) -> None:
    assert "audit log intact" not in failing(project)
    with triggers.suspend_triggers(connection):
        assert "projects_answer" in failing(project)["audit log intact"]


def test_the_checks_cost_the_same_queries_however_large_the_corpus(project: Project) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            run(project)
        return len(queries)

    build_cluster(project, 0)
    few = cost()
    for n in range(1, 12):
        build_cluster(project, n)
    assert cost() == few
