"""The agreement of a large round is computed by a job and stored; the page reads the stored report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from measures import former
from projects.agreement import actions as agreement_actions
from projects.agreement import queries as agreement_page
from projects.agreement import queries as agreement_queries
from projects.agreement.serializers import AgreementPendingSerializer, AgreementSerializer
from projects.curation.actions import correct
from projects.jobs.queries import claim_next
from projects.jobs.running import run_job
from projects.models import Job, Member, Project, Round, StoredAgreement, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
POLARITIES = ("positive", "negative", "no effect")


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of more than four answers counts as large; few replicates are fast."""
    monkeypatch.setattr(agreement_actions, "AT_ONCE", 4)


@pytest.fixture
def round(project: Project, ann1: User, ann2: User) -> Round:
    """Six units of two people with cues; the second differs in every third."""
    for number in range(2):
        build_cluster(project, number)
    people = [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]
    round = build_round(project, people, overlap=2, purpose="measure only")
    for person in (ann1, ann2):
        for n in range(6):
            polarity = POLARITIES[(n + (person == ann2 and n % 3 == 0)) % 3]
            cues = [(0, 7 + n)] if n % 2 else [(8, 16)] if person == ann1 else []
            answer(person, next_assignments(user=person, round=round)[0], label_value(polarity, polarity_cue=cues))
    return round


def closed(round: Round, by: User) -> Round:
    close_round(round=round, by=by)
    while (pk := claim_next()) is not None:
        run_job(pk)
    return Round.objects.get(pk=round.pk)


def at(round: Round) -> str:
    return f"/api/v1/rounds/{round.pk}/agreement/"


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("it was measured in the request")


def test_a_small_round_is_measured_at_once_and_nothing_is_kept(
    round: Round, lead: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement_actions, "AT_ONCE", 12)
    closed(round, lead)
    reply = client_of(lead).get(at(round))
    assert (reply.status_code, reply.json()["answers"]) == (200, 12)
    assert (reply.json()["current"], reply.json()["job"], reply.json()["answers_now"]) == (True, None, 12)
    assert not StoredAgreement.objects.exists()
    assert not Job.objects.filter(kind="agreement").exists()


def test_a_large_round_is_measured_when_it_closes_and_its_page_reads_that(
    round: Round, lead: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    round = closed(round, lead)
    expected = agreement_queries.report(round)
    monkeypatch.setattr(agreement_queries, "report", never)
    reply = client_of(lead).get(at(round))
    assert reply.status_code == 200
    found = reply.json()
    assert AgreementSerializer(data=found).is_valid()
    assert (found.pop("current"), found.pop("job"), found.pop("answers_now")) == (True, None, 12)
    assert found.pop("as_of") > round.closed_at.isoformat()[:19]  # type: ignore[union-attr]
    assert found == agreement_page.page(round, expected, curates=True) | {"purpose": "reliability study"}
    assert [list(m["coefficients"]) for m in found["measures"]] == [
        list(m["coefficients"]) for m in expected["measures"]
    ]
    assert Job.objects.filter(kind="agreement").count() == 1


def test_finishing_a_round_again_has_it_measured_once(round: Round, lead: User) -> None:
    close_round(round=round, by=lead)
    for _ in range(2):
        agreement_actions.start_after_closing(round=round)
    assert Job.objects.filter(kind="agreement").count() == 1


def test_a_large_open_round_is_measured_by_a_requested_job(
    round: Round, project: Project, lead: User, ann1: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(lead)
    with monkeypatch.context() as patch:
        patch.setattr(agreement_queries, "report", never)
        reply = client.get(at(round))
    assert (reply.status_code, reply.json()) == (202, {"answers": 12, "job": None})
    asked = client.post(at(round))
    assert asked.status_code == 202
    assert client.post(at(round)).json()["id"] == asked.json()["id"]
    waits = client.get(at(round)).json()
    assert AgreementPendingSerializer(data=waits).is_valid()
    assert waits["job"] == asked.json()["id"]
    assert run_job(waits["job"])
    job = client.get(f"/api/v1/jobs/{waits['job']}/").json()
    assert (job["status"], job["done"], job["total"]) == ("done", 12, 12)
    monkeypatch.setattr(agreement_queries, "report", never)
    found = client.get(at(round)).json()
    assert (found["status"], found["answers"], found["current"], found["job"]) == ("open", 12, True, None)
    build_cluster(project, 9)
    unit = Unit.objects.filter(type="proposition").order_by("-pk")[0]
    slot = round.assignments.create(unit=unit, number=1, position=99)
    round.participants.update(cursor=-1)
    answer(ann1, next(s for s in next_assignments(user=ann1, round=round) if s.pk == slot.pk))
    found = client.get(at(round)).json()
    assert (found["answers"], found["answers_now"], found["current"]) == (12, 13, False)
    assert [row["name"] for row in found["measures"]]


def test_inputs_of_a_report_are_checked_and_its_round_has_its_current_name(
    round: Round, project: Project, lead: User, client_of: ClientOf
) -> None:
    agreement_actions.compute_and_store(round=round, progress=lambda *_: None)
    close_round(round=round, by=lead)
    client = client_of(lead)
    found = client.get(at(round)).json()
    assert (found["current"], found["status"]) == (True, "closed")
    unit = Unit.objects.filter(type="proposition").order_by("pk")[0]
    by = Member.objects.get(project=project, user=lead)
    correct(unit=unit, kind="label", value=label_value("negative"), reason="Seen.", by=by)
    found = client.get(at(round)).json()
    assert found["current"] is False
    assert found["measures"][0]["gold"] == []
    assert run_job(client.post(at(round)).json()["id"])
    found = client.get(at(round)).json()
    assert found["current"] is True
    assert {row["n"] for row in found["measures"][0]["gold"]} == {1}


def test_figures_of_another_rule_are_not_shown(
    round: Round, lead: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    round = closed(round, lead)
    monkeypatch.setattr(agreement_actions, "METHOD", "agreement 0")
    assert "measures" not in client_of(lead).get(at(round)).json()
    assert run_job(agreement_actions.request_report(round=round, by=lead).pk)
    assert client_of(lead).get(at(round)).json()["current"] is True
    assert StoredAgreement.objects.get().method == "agreement 0"


def same(found: Any, known: Any, at: str = "") -> list[str]:
    """Return where two reports differ: in names, in order, or in numbers by more than rounding."""
    if isinstance(known, dict) and isinstance(found, dict):
        if list(found) != list(known):
            return [f"{at}: {list(found)} is not {list(known)}"]
        return [wrong for name in known for wrong in same(found[name], known[name], f"{at}.{name}")]
    if isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        return [wrong for n, each in enumerate(known) for wrong in same(found[n], each, f"{at}.{n}")]
    if isinstance(known, float) and isinstance(found, float):
        return [] if found == pytest.approx(known, rel=1e-9, abs=1e-12) else [f"{at}: {found} is not {known}"]
    return [] if found == known else [f"{at}: {found!r} is not {known!r}"]


def test_the_method_has_another_name_when_its_figures_are_others(round: Round) -> None:
    """If this fails, stored reports are outdated: increase `measuring.METHOD` and keep the old report below its
    number."""
    kept = Path(__file__).parent / (agreement_actions.METHOD.split(",")[0].replace(" ", "_") + ".json")
    found = json.loads(json.dumps(agreement_queries.report(round)))
    if not kept.exists():
        kept.write_text(json.dumps(found, indent=1) + "\n")
        pytest.fail(f"{kept.name} was not there; look at it and keep it")
    assert same(found, json.loads(kept.read_text())) == []


def without_bootstrap(value: Any) -> Any:
    """A report of the former rule without bootstrap intervals and their warnings."""
    if isinstance(value, list):
        return [without_bootstrap(each) for each in value]
    if not isinstance(value, dict):
        return value
    dropped = ("bootstrap", "bootstrap_ci", "warnings")
    return {key: without_bootstrap(each) for key, each in sorted(value.items()) if key not in dropped}


def test_the_former_rule_still_gives_the_report_of_its_time(round: Round) -> None:
    """Figures of old releases are recomputed with it."""
    kept = json.loads((Path(__file__).parent / "agreement_3.json").read_text())
    with former.rule():
        found = former.in_former_words(kept, json.loads(json.dumps(agreement_queries.report(round))))
    assert same(without_bootstrap(found), without_bootstrap(kept)) == []


def test_an_answer_during_measurement_makes_the_report_outdated(
    round: Round, ann1: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = agreement_queries.report
    mine = round.assignments.filter(person__user=ann1).order_by("pk")[0]

    def meanwhile(*args: Any, **kwargs: Any) -> dict[str, Any]:
        answer(ann1, mine, label_value("n/a", "no evidence"))
        return real(*args, **kwargs)

    monkeypatch.setattr(agreement_queries, "report", meanwhile)
    agreement_actions.compute_and_store(round=round, progress=lambda *_: None)
    monkeypatch.setattr(agreement_queries, "report", never)
    assert agreement_actions.available_report(round).current is False


def test_a_measurement_that_failed_is_named(
    round: Round, lead: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = agreement_actions.request_report(round=round, by=lead)
    monkeypatch.setattr(agreement_queries, "report", never)
    Job.objects.filter(pk=job.pk).update(attempts=2)
    assert run_job(job.pk)
    assert client_of(lead).get(at(round)).json() == {"answers": 12, "job": job.pk}


def test_reading_answers_in_parts_gives_the_same_report(
    round: Round, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = agreement_queries.report(round)
    assert whole["spans"][0]["pairs"] > 0
    assert whole["spans"][0]["both_empty"] == 0
    for size in (1, 2, 3, 5):
        monkeypatch.setattr(agreement_queries, "CHUNK", size)
        sizes = [len(said) for said in agreement_queries.answers_by_chunk(round)]
        assert (max(sizes), sum(sizes)) == (size + size % 2, 12)
        parts = agreement_queries.report(round)
        assert {**parts, "spans": None} == {**whole, "spans": None}
        for part, expected in zip(parts["spans"], whole["spans"], strict=True):
            assert part == expected | {"value": pytest.approx(expected["value"])}
