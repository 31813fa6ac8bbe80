"""The blind check: a second person labels rewritten texts without target and kind; a table counts the changes."""

from typing import Any

import pytest

from accounts.models import User
from annotation.kinds.counterfactual.tables import NOT_CHECKED, Checked, Direction
from annotation.models import Cluster, Counterfactual, RewrittenText
from api.problems import Refused
from measures.counterfactuals import Kind
from projects import kinds
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Member, Project, Round
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds import previews
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
KIND = "blind_check"
TEXT = "Nepralin reduces relapse."
MADE = {
    "negation": "Nepralin does not reduce relapse.",
    "antonym": "Nepralin increases relapse.",
    "modality": "Nepralin may reduce relapse.",
}


@pytest.fixture
def people(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


@pytest.fixture
def cluster(project: Project, lead: User, people: list[Member]) -> Cluster:
    """A labelled target with three counterfactuals by the first person."""
    cluster = build_cluster(project, inputs=0, text=TEXT)
    by = Member.objects.get(project=project, user=lead)
    unit = cluster.propositions.get(position=0).unit
    correct(unit=unit, kind="label", value=label_value("positive", "moderate"), reason="", by=by)
    options = {"counterfactual_kinds": list(MADE)}
    round = build_round(project, people[:1], name="writing", kind="counterfactual", options=options)
    [slot] = next_assignments(user=people[0].user, round=round)
    value = {name: {"text": text, "origin": "written", "rule": "", "reason": ""} for name, text in MADE.items()}
    answer(people[0].user, slot, value, kind="counterfactual")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    return cluster


def labelled(round: Round, person: Member, says: dict[str, tuple[str, str]]) -> None:
    """Label the given texts; others stay as they are."""
    while held := [s for s in next_assignments(user=person.user, round=round) if text_of(s.unit_id) in says]:
        answer(person.user, held[0], label_value(*says[text_of(held[0].unit_id)]), kind=KIND)


def text_of(unit: int) -> str:
    return kinds.get(KIND).texts([unit])[unit]


def test_a_plan_gives_the_number_of_answers_that_the_round_then_has(
    project: Project, cluster: Cluster, people: list[Member]
) -> None:
    plan = RoundPlan(people=[people[1].pk], name="blind", kind=KIND, purpose="gold", overlap=1)
    assert previews.totals(project, plan)["answers"] == len(MADE)
    round = open_round(project=project, plan=plan, by=None)
    assert round.assignments.count() == len(MADE)


def test_a_blind_check_card_hides_target_kind_and_key(project: Project, cluster: Cluster, people: list[Member]) -> None:
    round = build_round(project, people[1:], name="blind", kind=KIND, held_limit=3)
    shown = cards(round, next_assignments(user=people[1].user, round=round))
    assert {card["text"] for card in shown} == set(MADE.values())
    assert [card["text"] for card in shown] != list(MADE.values()), "in an order that tells nothing"
    for card in shown:
        assert card["unit"]["key"] == ""
        assert card["context"] == {"key": "", "index": 1, "size": 1}
        assert cluster.key not in repr(card)
        assert TEXT not in repr(card)
        assert {s["element"]: s["text"] for s in card["pico"]}["o"] == "relapse"
    assert round.units_count == 3
    units = [card["unit"]["id"] for card in shown]
    assert kinds.get(KIND).reviews(units) == dict.fromkeys(units, cluster.review.pmid), "intervals go over reviews"


def test_nobody_gets_a_blind_check_of_their_own_text(project: Project, cluster: Cluster, people: list[Member]) -> None:
    too_few = ((people[:1], 1, "1 more person"), (people[:1], 2, "2 more people"), (people, 2, "1 more person"))
    for who, overlap, add in too_few:
        with pytest.raises(Refused, match=f"Ann1 wrote 3 of the 3 texts and cannot check them. Add {add}"):
            build_round(project, who, name="refused", kind=KIND, overlap=overlap)
    assert not Round.objects.filter(kind=KIND, name="refused").exists()
    dealt = build_round(project, people, name="dealt", kind=KIND, allocation="dealt")
    assert next_assignments(user=people[0].user, round=dealt) == []
    assert next_assignments(user=people[1].user, round=dealt)
    pool = build_round(project, people, name="pool", kind=KIND)
    [slot, *_] = next_assignments(user=people[0].user, round=pool)
    with pytest.raises(Refused, match="You wrote this text"):
        answer(people[0].user, slot, label_value(), kind=KIND)


def test_changes_are_counted_by_kind_and_direction(
    project: Project, cluster: Cluster, people: list[Member], lead: User
) -> None:
    round = build_round(project, people[1:], name="blind", kind=KIND, held_limit=3)
    says = {
        MADE["negation"]: ("no effect", "moderate"),
        MADE["antonym"]: ("negative", "moderate"),
        # The polarity changed as well as the modality.
        MADE["modality"]: ("no effect", "weak"),
    }
    labelled(round, people[1], says)
    unchecked = Checked(project).directions()
    assert unchecked[Direction(Kind.NEGATION, "positive", NOT_CHECKED)] == (1, 0)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    assert Checked(project).directions() == {
        Direction(Kind.NEGATION, "positive", "no effect"): (1, 1),
        Direction(Kind.ANTONYM, "positive", "negative"): (1, 1),
        Direction(Kind.MODALITY, "moderate", "weak"): (1, 0),
    }


def test_a_text_is_one_unit_in_whatever_rounds_and_a_new_version_another(
    project: Project, cluster: Cluster, people: list[Member], lead: User
) -> None:
    for name in ("one", "two"):
        build_round(project, people[1:], name=name, kind=KIND, purpose="measure only")
    assert RewrittenText.objects.count() == 3
    unit = cluster.propositions.get(position=0).unit
    none: dict[str, Any] = {"text": "", "origin": "", "rule": "", "reason": "other"}
    value = dict.fromkeys(kinds.get("counterfactual").fields, none)
    value["negation"] = {"text": "Nepralin never reduces relapse.", "origin": "written", "rule": "", "reason": ""}
    by = Member.objects.get(project=project, user=lead)
    correct(unit=unit, kind="counterfactual", value=value, reason="It reads better.", by=by)
    round = build_round(project, people[1:], name="three", kind=KIND, purpose="measure only")
    assert (round.units_count, RewrittenText.objects.count()) == (1, 4)
    assert Counterfactual.objects.current().count() == 1
