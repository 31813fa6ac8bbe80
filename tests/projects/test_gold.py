"""Gold per field, from rounds and from curators."""

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Conflict, Refused
from audit.verify import findings
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.gold.queries import current_decisions, current_values
from projects.jobs.running import run_job
from projects.models import Answer, Decision, Job, Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    build_cluster(project, inputs=0)
    return [Member.objects.get(project=project, user=u) for u in (lead, ann1, ann2)]


def say(round: Round, people: list[Member], values: list[dict[str, object]]) -> Unit:
    """Each person answers the only unit with the given value; the round is closed and finished."""
    for person, value in zip(people, values, strict=True):
        answer(person.user, next_assignments(user=person.user, round=round)[0], value)
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    return Unit.objects.get(type="proposition")


def origins(unit: Unit) -> dict[str, str]:
    return {d.field: d.origin for d in Decision.objects.filter(unit=unit).order_by("pk")}


def test_unanimous_values_and_cues_become_gold(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3)
    unit = say(round, three, [label_value(polarity_cue=[(0, 7)])] * 3)
    assert origins(unit) == dict.fromkeys(["polarity", "polarity_cue", "modality", "modality_cue"], "unanimous")
    assert current_values([unit], "label")[unit.pk]["polarity_cue"][0]["quote"] == "Neither"


def test_two_of_three_are_a_majority_field_by_field(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3)
    unit = say(round, three, [label_value("positive"), label_value("positive", "weak"), label_value("negative")])
    assert origins(unit)["polarity"] == "by majority"
    gold = current_values([unit], "label")[unit.pk]
    assert (gold["polarity"], gold["modality"]) == ("positive", "moderate")


def test_a_tie_is_left_for_adjudication(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3)
    unit = say(round, three, [label_value("positive"), label_value("no effect"), label_value("negative")])
    assert origins(unit) == {
        "polarity": "contested",
        "polarity_cue": "contested",
        "modality": "unanimous",
        "modality_cue": "unanimous",
    }
    assert "polarity" not in current_values([unit], "label")[unit.pk]


@pytest.mark.parametrize(
    ("policy", "origin"), [("exact", "contested"), ("overlap", "unanimous"), ("ignore", "unanimous")]
)
def test_the_declared_policy_says_when_cues_agree(
    three: list[Member], project: Project, policy: str, origin: str
) -> None:
    round = build_round(project, three, overlap=3, policy={"cues": policy})
    cues = [[(0, 7)], [(0, 16)], [(5, 16)]]
    unit = say(round, three, [label_value(polarity_cue=cue) for cue in cues])
    assert origins(unit)["polarity_cue"] == origin
    if policy == "overlap":
        assert current_values([unit], "label")[unit.pk]["polarity_cue"][0]["end"] == 16


def test_a_single_answer_is_gold_where_overlap_is_one(three: list[Member], project: Project) -> None:
    round = build_round(project, three[:1], overlap=1)
    unit = say(round, three[:1], [label_value("negative")])
    assert set(origins(unit).values()) == {"single"}


def test_a_reliability_study_never_touches_gold(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3, purpose="measure only")
    say(round, three, [label_value()] * 3)
    assert not Decision.objects.exists()


def test_units_without_all_their_answers_are_left_open(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3)
    answer(three[0].user, next_assignments(user=three[0].user, round=round)[0])
    close_round(round=round, by=None)
    round.refresh_from_db()
    assert finish_round(round=round, by=None)["decisions"] == {"units without enough answers": 1}
    assert not Decision.objects.exists()


def test_finishing_twice_adds_nothing(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3)
    say(round, three, [label_value()] * 3)
    before = Decision.objects.count()
    finish_round(round=round, by=None)
    assert Decision.objects.count() == before


def test_closing_a_round_queues_a_job_that_forms_gold_and_a_checkpoint(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3)
    for person in three:
        answer(person.user, next_assignments(user=person.user, round=round)[0])
    job = close_round(round=round, by=three[0].user)
    assert run_job(job.pk)
    job = Job.objects.get(pk=job.pk)
    assert (job.status, job.result) == ("done", {"decisions": {"unanimous": 4}})
    assert not Answer.objects.filter(checkpoint=None).exists()
    assert not Decision.objects.filter(checkpoint=None).exists()
    assert list(findings()) == []


def test_a_curators_value_replaces_gold_where_it_differs_and_says_why(three: list[Member], project: Project) -> None:
    round = build_round(project, three, overlap=3)
    unit = say(round, three, [label_value("positive", polarity_cue=[(0, 7)])] * 3)
    made = correct(
        unit=unit, kind="label", value=label_value("negative", polarity_cue=[(0, 7)]), reason="Misread.", by=three[0]
    )
    assert [d.field for d in made] == ["polarity"]
    current = current_decisions([unit.pk], "label")
    assert current[unit.pk, "polarity"].origin == "decided by a curator"
    assert current[unit.pk, "polarity"].reason == "Misread."
    assert current[unit.pk, "modality"].origin == "unanimous"
    assert current_values([unit], "label")[unit.pk]["polarity"] == "negative"


def test_two_curators_can_correct_in_turn(three: list[Member], project: Project) -> None:
    unit = Unit.objects.get(type="proposition")
    for person, polarity in ((three[0], "positive"), (three[1], "negative"), (three[0], "no effect")):
        correct(unit=unit, kind="label", value=label_value(polarity), reason="I looked again.", by=person)
        assert current_values([unit], "label")[unit.pk]["polarity"] == polarity


def test_a_correction_needs_a_reason_and_every_value_must_fit(three: list[Member], project: Project) -> None:
    unit = Unit.objects.get(type="proposition")
    correct(unit=unit, kind="label", value=label_value(), reason=" ", by=three[0])
    with pytest.raises(Refused, match="reason"):
        correct(unit=unit, kind="label", value=label_value("negative"), reason=" ", by=three[0])
    client = APIClient()
    client.force_login(three[0].user)
    reply = client.post(
        f"/api/v1/units/{unit.pk}/corrections/",
        {"kind": "label", "value": label_value("n/a", "weak"), "reason": "x"},
        format="json",
    )
    assert reply.status_code == 422
    annotator = APIClient()
    annotator.force_login(three[1].user)
    reply = annotator.post(
        f"/api/v1/units/{unit.pk}/corrections/", {"kind": "label", "value": label_value(), "reason": "x"}, format="json"
    )
    assert reply.status_code == 403


def test_an_open_round_forms_no_gold(three: list[Member], project: Project) -> None:
    round = build_round(project, three[:1])
    answer(three[0].user, next_assignments(user=three[0].user, round=round)[0], label_value())
    with pytest.raises(Conflict, match="still open"):
        finish_round(round=round, by=None)
    assert not Decision.objects.exists()
