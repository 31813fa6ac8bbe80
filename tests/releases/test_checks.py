"""Checks before a release is frozen."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.imports.licences import state_licence, stated_licence
from annotation.models import Search
from audit import triggers
from audit.models import Entry
from projects.gold.actions import finish_round
from projects.models import Import, Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.models import Creator
from releases.sources.checks import run
from releases.sources.options import ReleaseOptions
from tests.builders import answer, build_cluster, build_round, label_value

DEFAULTS = ReleaseOptions()
pytestmark = pytest.mark.django_db


def failing(project: Project) -> dict[str, str]:
    return {c["name"]: c["detail"] for c in run(project) if not c["passed"]}


def test_settings_that_are_missing_are_named_until_they_are_there(project: Project) -> None:
    build_cluster(project, 0)
    assert set(failing(project)) == {"licence", "creators", "description", "gold complete"}
    Project.objects.update(licence="CC-BY-4.0", description="Eyes.")
    Creator.objects.create(project=project, position=1, family="Lead")
    project.refresh_from_db()
    assert set(failing(project)) == {"gold complete"}


def blocking(project: Project, options: ReleaseOptions = DEFAULTS) -> set[str]:
    return {check["name"] for check in run(project, options) if check["blocks"]}


def test_creators_and_licences_prevent_only_a_release_with_a_doi(project: Project) -> None:
    build_cluster(project, 0)
    assert blocking(project) == set()
    assert blocking(project, ReleaseOptions(doi="10.5281/zenodo.1")) == {"licence", "creators"}


def test_a_project_without_data_is_not_released_without_a_reason(project: Project) -> None:
    assert blocking(project) == {"data"}


@pytest.mark.parametrize(
    ("licence", "redistribution", "fails"),
    [
        ("", "", True),
        ("CC-BY-4.0", "", False),
        ("cc-by-nc-4.0", "forbidden", True),
        ("Terms of a publisher", "", True),
        ("Terms of a publisher", "allowed", False),
    ],
)
def test_texts_of_an_unknown_or_forbidding_licence_fail_until_they_are_left_out(
    project: Project, lead: User, licence: str, redistribution: str, fails: bool
) -> None:
    imported = Import.objects.create(
        project=project, format="m3", file_name="a.jsonl", sha256="0" * 64, size=1, created_at=timezone.now()
    )
    state_licence(imported, stated_licence(licence, redistribution), by=lead)
    name = "texts may be redistributed"
    assert (name in failing(project)) == fails
    assert all(check["passed"] for check in run(project, ReleaseOptions(without=["texts"])) if check["name"] == name)
    assert (name in blocking(project, ReleaseOptions(doi="10.5281/zenodo.1"))) == fails


def test_the_licence_of_an_import_is_logged(project: Project, lead: User) -> None:
    imported = Import.objects.create(
        project=project, format="m3", file_name="a.jsonl", sha256="0" * 64, size=1, created_at=timezone.now()
    )
    for _ in range(2):
        state_licence(imported, stated_licence("cc-by-4.0"), by=lead)
    entry = Entry.objects.get(verb="state licence")
    assert entry.after == {"licence": "CC-BY-4.0", "may_redistribute": True}
    assert Import.objects.get().licence == "CC-BY-4.0"


def test_every_check_says_what_it_means_and_what_to_do_on_which_page(project: Project) -> None:
    found = run(project)
    assert all(c["title"] and c["means"] and c["advice"] for c in found)
    assert {c["name"]: c["page"] for c in found}["no contests"] == "corpus?state=contested"
    assert len({c["title"] for c in found}) == len(found) == 10


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


def test_the_records_of_a_search_have_a_licence_of_their_own(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    search = Search.objects.create(project=project, query="glaucoma", found=3, created_by=lead)
    assert "texts may be redistributed" in failing(project)
    address = f"/api/v1/searches/{search.pk}/"
    shown = client_of(lead).patch(address, {"licence": "cc0-1.0"}, format="json").json()
    assert (shown["licence"], shown["redistribution"]) == ("CC0-1.0", "allowed")
    assert "texts may be redistributed" not in failing(project)
