"""A round with a gate waits until its closed pilot meets the bar, or a lead opens it with a reason."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Conflict, Refused
from audit.actions import create_checkpoints
from audit.digests import digest_of
from audit.models import Entry
from audit.verify import findings
from measures.agreement.bars import Bar
from projects.agreement import actions as agreement_actions
from projects.gates import actions as gates_actions
from projects.gates import queries as gates_queries
from projects.gates.actions import GatePlan
from projects.jobs.queries import claim_next
from projects.jobs.running import run_job
from projects.models import Assignment, GateReading, Job, Member, PilotGate, Project, Round
from projects.overview.queries import overview
from projects.queue.actions import next_assignments
from projects.rounds import preparing, waiting
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan
from releases.formats import rounds as released
from releases.formats.notes import Notes
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
POLARITIES = ("positive", "negative", "no effect")


@pytest.fixture
def pilot(project: Project, ann1: User, ann2: User) -> Round:
    """Six units of two people; the second differs in every third."""
    for number in range(2):
        build_cluster(project, number)
    people = [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]
    round = build_round(project, people, name="pilot", overlap=2, purpose="measure only")
    for person in (ann1, ann2):
        for n in range(6):
            polarity = POLARITIES[(n + (person == ann2 and n % 3 == 0)) % 3]
            answer(person, next_assignments(user=person, round=round)[0], label_value(polarity))
    return round


def bar(number: float = 0.2, *, requires: Any = "value", least: int = 0, coefficient: str = "ac1") -> Bar:
    return Bar("polarity", coefficient, requires, number, least)


def planned(pilot: Round, by: User, of: Bar, name: str = "main") -> Round:
    people = [p.member_id for p in pilot.participants.all()]
    plan = RoundPlan(name=name, kind="label", purpose="gold", overlap=2, people=people, gate=GatePlan(pilot.pk, of))
    return preparing.begin_round(project=pilot.project, plan=plan, by=by)


def run_jobs() -> None:
    while (pk := claim_next()) is not None:
        run_job(pk)


def close(round: Round, by: User) -> None:
    close_round(round=round, by=by)
    run_jobs()


def status(round: Round) -> str:
    return Round.objects.get(pk=round.pk).status


def test_a_round_waits_while_its_pilot_is_open_and_opens_once_the_bar_is_met(
    pilot: Round, lead: User, ann1: User, client_of: ClientOf
) -> None:
    round = planned(pilot, lead, bar(0.2, least=6))
    run_jobs()
    assert status(round) == Round.Status.PREPARING
    assert not Assignment.objects.filter(round=round).exists()
    assert not Job.objects.exists()
    with pytest.raises(Conflict, match="waits for its pilot"):
        preparing.resume(round=round, by=lead)
    row = client_of(lead).get(f"/api/v1/projects/{pilot.project.slug}/rounds/").json()["results"][0]
    assert row["gate"]["result"] == "pilot open"
    assert row["gate"]["needs"] == "AC1 of polarity: value 0.20 with n 6"
    close(pilot, lead)
    assert status(round) == Round.Status.OPEN
    assert Assignment.objects.filter(round=round).count() == 12
    assert round.participants.count() == 2
    reading = GateReading.objects.get()
    assert reading.figures
    assert (reading.outcome, reading.by, reading.figures["units"]) == ("met", lead, 6)
    content = {"pilot": pilot.pk, "rule": reading.rule, "figures": reading.figures, "method": reading.method}
    assert reading.digest == digest_of(content)
    page = client_of(lead).get(f"/api/v1/rounds/{round.pk}/").json()["gate"]
    assert page["waits"] is False
    assert page["reads"].startswith("AC1 0.5")
    assert "n = 6" in page["reads"]
    assert client_of(ann1).get(f"/api/v1/rounds/{round.pk}/").json()["gate"] is None
    create_checkpoints()
    assert list(findings()) == []


def test_a_round_whose_pilot_is_closed_already_is_read_at_once(pilot: Round, lead: User) -> None:
    close(pilot, lead)
    round = planned(pilot, lead, bar())
    run_jobs()
    assert status(round) == Round.Status.OPEN


def test_the_figures_of_a_large_pilot_are_computed_by_the_job(
    pilot: Round, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement_actions, "AT_ONCE", 4)
    round = planned(pilot, lead, bar())
    close(pilot, lead)
    assert status(round) == Round.Status.OPEN


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (bar(0.99), "is below 0.99"),
        (bar(0.1, least=7), "n = 6 is below 7"),
        (bar(0.1, requires="lower bound"), "there is no lower bound: no reliable interval"),
    ],
)
def test_a_bar_that_is_not_met_keeps_the_round_and_says_why(pilot: Round, lead: User, of: Bar, why: str) -> None:
    round = planned(pilot, lead, of)
    close(pilot, lead)
    assert status(round) == Round.Status.PREPARING
    reading = GateReading.objects.get()
    assert reading.outcome == "not met"
    assert why in reading.why
    member = pilot.project.members.get(user=lead)
    assert overview(member, now=timezone.now())["waiting"] == [{"round": round.pk, "name": "main"}]


def test_a_lead_opens_with_a_reason_which_is_logged_and_released(
    pilot: Round, lead: User, ann1: User, client_of: ClientOf
) -> None:
    round = planned(pilot, lead, bar(0.99))
    close(pilot, lead)
    at = f"/api/v1/rounds/{round.pk}/gate/"
    assert client_of(ann1).post(at, {"reason": "Enough."}, format="json").status_code == 403
    for blank in (" ", "\u200b", "\n.\u2060"):
        assert client_of(lead).post(at, {"reason": blank}, format="json").status_code == 422
    assert client_of(lead).post(at, {"reason": "The guideline is clearer now."}, format="json").status_code == 202
    assert client_of(lead).post(at, {"reason": "Again."}, format="json").status_code == 409
    run_jobs()
    assert status(round) == Round.Status.OPEN
    entry = Entry.objects.get(verb="open without its pilot")
    assert (entry.actor, entry.reason) == (lead, "The guideline is clearer now.")
    [line] = [json.loads(line) for _, rows in released.files(pilot.project, Notes()) for line in rows][1:]
    assert [one["outcome"] for one in line["gate"]["readings"]] == ["not met", "opened by a lead"]
    assert line["gate"]["pilot"] == "pilot"
    assert line["gate"]["readings"][0]["figures"]["units"] == 6
    [blind] = gates_queries.released(pilot.project, [pilot.pk]).values()
    assert [(one["why"], one["figures"]) for one in blind["readings"]] == [
        ("", None),
        ("The guideline is clearer now.", None),
    ]
    page = client_of(lead).get(at).json()
    assert page["why"] == "The guideline is clearer now."
    assert page["times_read"] == 1


def test_a_pilot_is_read_once_and_every_reading_stays(pilot: Round, lead: User, client_of: ClientOf) -> None:
    round = planned(pilot, lead, bar(0.99))
    close(pilot, lead)
    for _ in range(2):
        waiting.read_after_closing(pilot=pilot)
        waiting.read_pilot(round=round, by=lead, progress=lambda *_: None)
        preparing_jobs = Job.objects.filter(kind=preparing.OPEN)
        assert GateReading.objects.count() == 1
        assert not preparing_jobs.exists()
    preparing.discard(round=round, by=lead)
    run_jobs()
    assert not Round.objects.filter(pk=round.pk).exists()
    assert not PilotGate.objects.exists()
    assert GateReading.objects.get().round_name == "main"
    create_checkpoints()
    assert list(findings()) == []
    second = planned(pilot, lead, bar(0.9), name="second")
    run_jobs()
    assert client_of(lead).get(f"/api/v1/rounds/{second.pk}/gate/").json()["times_read"] == 2


def test_figures_of_an_open_pilot_are_never_read(pilot: Round, lead: User, client_of: ClientOf) -> None:
    round = planned(pilot, lead, bar())
    with pytest.raises(Conflict, match="still open"):
        waiting.read_pilot(round=round, by=lead, progress=lambda *_: None)
    page = client_of(lead).get(f"/api/v1/rounds/{pilot.pk}/as-pilot/", {"kind": "label"}).json()
    assert {one["reads"] for measure in page["measures"] for one in measure["coefficients"]} == {""}
    close(pilot, lead)
    page = client_of(lead).get(f"/api/v1/rounds/{pilot.pk}/as-pilot/", {"kind": "label"}).json()
    assert page["measures"][0]["coefficients"][0]["reads"].startswith("AC1 0.5")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"measure": "colour"}, "gate.measure"),
        ({"coefficient": "ac2"}, "gate.coefficient"),
        ({"coefficient": "cohen_pairs", "requires": "lower bound"}, "gate.requires"),
    ],
)
def test_a_gate_that_cannot_be_read_is_refused(pilot: Round, lead: User, change: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refused:
        planned(pilot, lead, Bar(**bar().as_json() | change))
    assert [error["field"] for error in refused.value.errors] == [field]


def test_a_pilot_of_another_project_or_without_agreement_is_refused(
    pilot: Round, project: Project, lead: User, ann1: User
) -> None:
    alone = build_round(project, [Member.objects.get(user=ann1, project=project)], name="alone", overlap=1)
    for pk in (alone.pk, 10**6):
        with pytest.raises(Refused, match="whose answers have agreement"):
            gates_actions.check(project, GatePlan(pk, bar()), "label")


def test_a_round_with_a_gate_cannot_open_at_once(pilot: Round, lead: User) -> None:
    plan = RoundPlan(name="x", kind="label", purpose="gold", overlap=1, people=[], gate=GatePlan(pilot.pk, bar()))
    with pytest.raises(ValueError, match="cannot open at once"):
        open_round(project=pilot.project, plan=plan, by=lead)


def test_the_form_learns_the_units_needed(pilot: Round, lead: User, client_of: ClientOf) -> None:
    at, query = f"/api/v1/rounds/{pilot.pk}/as-pilot/", {"kind": "label", "measure": "polarity", "coefficient": "ac1"}
    asked = client_of(lead).get(at, query | {"number": 0.6, "assumed": 0.8}).json()["reach"]
    assert asked["says"] == f"From n = {asked['needed']} units of 20 reviews the expected 97% lower bound reaches 0.60."
    assert asked["basis"] == "model"
    assert asked["probability"] == 0
    below = client_of(lead).get(at, query | {"number": 0.6, "assumed": 0.5}).json()["reach"]
    assert below["needed"] is None
    assert below["says"].startswith("No n reaches it")
    choices = client_of(lead).get(f"/api/v1/projects/{pilot.project.slug}/rounds/choices/").json()["pilots"]
    assert [one["name"] for one in choices] == ["pilot"]
    assert "label" in choices[0]["kinds"]
