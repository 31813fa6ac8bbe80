"""Written summaries are rated and compared like those of systems, blindly, and never by their author."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from evaluation.design import systems
from evaluation.models import ComparedSystem, PageTextOf, RatingDesign
from evaluation.results.actions import compute_ratings
from evaluation.unblinding.actions import unblind
from projects.gold.actions import finish_round
from projects.models import Member, Project, Round, Unit
from projects.queue.queries import cards
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan
from tests.annotation.test_write import PRIMARY, open_writing, people, write
from tests.evaluation.rating_rounds import GUIDELINE, PREFERENCE, rate_all
from tests.generation.builders import build_run, build_version
from tests.releases.test_every_figure_again import recompute_all
from tests.releases.test_needed_again import released

__all__ = ["PRIMARY", "people"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def written(project: Project, people: list[Member], lead: User) -> list[Member]:
    """Two people have written all summaries of two questions; the first finds nothing relevant in a passage."""
    round = open_writing(project, people)
    for number, person in enumerate(people):
        write(round, person, words=f"by {number}", nothing="" if number else "3_Answer1")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    return people


def open_rating(project: Project, raters: list[Member], chosen: list[str], kind: str = "rate", **plan: Any) -> Round:
    protocol = PREFERENCE if kind == "compare" else GUIDELINE
    plan = {
        "name": "Ratings",
        "kind": kind,
        "purpose": "measure only",
        "overlap": 1,
        "options": {"protocol": protocol, "systems": chosen},
        **plan,
    }
    return open_round(project=project, plan=RoundPlan(people=[one.pk for one in raters], **plan), by=None)


def of(project: Project, *words: str) -> list[str]:
    """Return the ids of the writers whose label has all these words."""
    ids, labels, _ = systems.offered(project)
    return [one for one, label in zip(ids, labels, strict=True) if all(word in label for word in words)]


def test_writers_and_imports_are_offered_by_type(project: Project, written: list[Member]) -> None:
    _, labels, usual = systems.offered(project)
    assert [label for label in labels if "all" in label and "Abs" in label] == [
        "Abstractive of all passages, R1",
        "Abstractive of all passages, R2",
        "Abstractive of all passages, imported",
    ]
    assert len(labels) == 4 * 3 + 1
    assert len(usual) == 6


def test_written_summaries_are_rated_blindly_and_unblinded(
    project: Project, written: list[Member], evaluator: User, lead: User, tmp_path: Path
) -> None:
    rater = Member.objects.get(project=project, user=evaluator)
    round = open_rating(project, [rater], of(project, "Abstractive of all"))
    assert PageTextOf.objects.values("text__page__source").distinct().count() == 2
    [slot, *_] = list(round.assignments.select_related("unit", "round"))
    [card] = cards(round, [slot])
    assert card["source"]["query"]
    assert len(card["source"]["studies"]) in (1, 2)
    assert not [name for name in ("R1", "R2", "imported") if f"'{name}'" in str(card)]
    rate_all(evaluator, round)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    design = RatingDesign.objects.select_related("round__project").get(round=round)
    unblind(design=design, by=lead)
    compute_ratings(design=design, progress=lambda *_: None)
    recompute_all(released(project, tmp_path / "r"))
    names = set(ComparedSystem.objects.filter(design__round=round).values_list("name", flat=True))
    assert names == {f"Abstractive of all passages, {who}" for who in ("R1", "R2", "imported")}


def test_pairs_of_single_summaries_leave_out_empty_ones(
    project: Project, written: list[Member], evaluator: User
) -> None:
    rater = Member.objects.get(project=project, user=evaluator)
    chosen = [*of(project, "Abstractive of a passage, R1"), *of(project, "Abstractive of a passage, R2")]
    round = open_rating(project, [rater], chosen, "compare")
    keys = set(PageTextOf.objects.values_list("text__page__source__unit__key", flat=True))
    assert keys == {"1_Answer2", "1_Answer10"}, "R1 found nothing relevant in 3_Answer1"
    assert round.units_count == 2


def test_authors_cannot_rate_their_own_texts(project: Project, written: list[Member], evaluator: User) -> None:
    chosen = of(project, "Abstractive of all")
    with pytest.raises(Refused, match="cannot rate them: R1"):
        open_rating(project, [written[0]], chosen)
    others = [one for one in chosen if f":{written[0].pk}:" not in one]
    assert open_rating(project, [written[0]], others, name="Others")


def test_texts_of_two_levels_are_not_compared(project: Project, written: list[Member], evaluator: User) -> None:
    rater = Member.objects.get(project=project, user=evaluator)
    chosen = [*of(project, "Abstractive", "all passages", "R1"), *of(project, "Abstractive", "a passage", "R2")]
    assert len(chosen) == 2
    with pytest.raises(Refused, match="No unit"):
        open_rating(project, [rater], chosen)


def test_a_lead_who_rates_does_not_see_the_writers(
    project: Project, written: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    address = f"/api/v1/projects/{project.slug}/materials/written_summaries/?search=About all"
    texts = [row["cells"][0] for row in client_of(lead).get(address).json()["results"]]
    assert "About all, by 0." in texts
    open_rating(project, [Member.objects.get(project=project, user=lead)], of(project, "Abstractive of all", "R1"))
    texts = [row["cells"][0] for row in client_of(lead).get(address).json()["results"]]
    assert "About all, by 0." not in texts
    assert "About all, by 1." in texts


def test_a_system_is_compared_with_a_writer(project: Project, written: list[Member], evaluator: User) -> None:
    rater = Member.objects.get(project=project, user=evaluator)
    units = dict(Unit.objects.filter(type="question").values_list("pk", "key"))
    run = build_run(build_version(project, "Alder", level="question"), {pk: f"Of {key}." for pk, key in units.items()})
    chosen = [str(run.pk), *of(project, "Abstractive of all", "R1")]
    round = open_rating(project, [rater], chosen, "compare")
    assert round.units_count == 2
    alone = open_rating(project, [rater], [str(run.pk)], name="Alone")
    assert alone.units_count == 2
