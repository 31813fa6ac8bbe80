"""``manage.py seed`` creates the sample project once."""

from io import StringIO

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from accounts.models import User
from annotation.models import Cluster, Counterfactual, Proposition
from operations.sample_project import PEOPLE, SAMPLE, seed
from projects import kinds
from projects.models import Assignment, Guideline, Import, Member, Project, Round

pytestmark = pytest.mark.django_db


def said() -> str:
    out = StringIO()
    call_command("seed", stdout=out)
    return out.getvalue()


def rows() -> dict[str, int]:
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


def test_seed_creates_a_project_that_is_marked_as_illustrative() -> None:
    said()
    project = Project.objects.get()
    assert (project.slug, project.name, project.licence) == ("sample", "Sample project (illustrative)", "CC0-1.0")
    assert project.illustrative
    assert "fictitious" in project.description


def test_the_corpus_comes_in_by_the_real_importer() -> None:
    said()
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    assert Cluster.objects.count() == len(lines)
    assert Import.objects.get(format="m3").counts["propositions"] == Proposition.objects.count()
    assert (
        Import.objects.get(format="counterfactuals").counts["counterfactuals"] == Counterfactual.objects.count() == 15
    )


def test_four_people_have_their_roles_and_no_password() -> None:
    said()
    members = Member.objects.order_by("id").values_list("user__email", "user__name", "role")
    assert list(members) == [
        ("lead@example.org", "Lea Lead", "lead"),
        ("ann1@example.org", "Anna Annotator", "annotator"),
        ("ann2@example.org", "Ben Annotator", "annotator"),
        ("evaluator@example.org", "Eva Evaluator", "evaluator"),
    ]
    assert not any(user.has_usable_password() for user in User.objects.all())


def test_the_sample_has_one_open_round_with_the_shipped_guideline() -> None:
    said()
    round = Round.objects.get()
    assert (round.name, round.kind, round.purpose) == ("First labels", "label", "gold")
    assert (round.overlap, round.allocation, round.status) == (2, "pool", "open")
    assert round.participants.count() == len(PEOPLE)
    assert (round.guideline, round.guideline.number) == (Guideline.objects.get(), 1)
    assert round.guideline.text == kinds.get("label").guideline
    assert Assignment.objects.count() == 2 * Proposition.objects.count()


def test_a_second_run_changes_nothing() -> None:
    assert "Created project sample." in said()
    before = rows()
    assert said() == "The sample project already exists; nothing was changed.\n"
    assert rows() == before


def test_later_changes_by_people_are_kept() -> None:
    seeded = seed()
    Project.objects.update(name="Renamed")
    Round.objects.update(status=Round.Status.CLOSED)
    Member.objects.filter(user=seeded.people[1]).update(left_at=seeded.round.opened_at)
    again = seed()
    assert again.made == ()
    assert (again.project.name, again.round.is_open) == ("Renamed", False)
    assert not Member.objects.active().filter(user=seeded.people[1]).exists()


def test_seed_creates_what_is_missing() -> None:
    User.objects.create_user(email="LEAD@example.org", name="Somebody before")
    assert "account lead@example.org" not in seed().made
    assert User.objects.count() == len(PEOPLE)


def test_seed_does_not_touch_a_real_project_of_the_same_name(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(slug="sample")
    before = rows()
    with pytest.raises(CommandError, match="not the sample project"):
        call_command("seed")
    assert rows() == before
