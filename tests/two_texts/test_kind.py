"""A kind that is one folder: a round of it goes the whole way, and nothing of the house knows it."""

import csv
import subprocess
import uuid as uuids
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.curation.actions import add_clusters
from annotation.kinds.supersede import supersede_text
from annotation.models import Review
from api.problems import Refused
from measures.recompute import agreement as again
from measures.recompute.files import Findings, Folder
from projects import kinds
from projects.agreement import queries as agreement_queries
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.jobs.running import run_job
from projects.models import Decision, Member, Origin, Project, Round
from projects.practice import queries as practice_queries
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds import preparing, previews
from projects.rounds.actions import close_round
from projects.rounds.planning import RoundPlan
from projects.sheets.actions import start_import
from projects.staleness.actions import stale_units
from tests.builders import answer, build_cluster, build_round
from tests.projects.adjudication import answer_by, queue, take
from tests.releases.test_needed_again import released
from tests.two_texts.kinds.two_texts.kind import TwoTextsKind
from tests.two_texts.models import TextRating

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
API = "/api/v1"
KIND = "two_texts"


def rating(target: int = 4, input: int = 2, remark: str = "") -> dict[str, Any]:
    return {"target": target, "input": input, "remark": remark}


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    for number in range(10):
        build_cluster(project, number, inputs=1, text=f"Text number {number}.")
    return [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]


def opened(project: Project, people: list[Member], **plan: Any) -> Round:
    return build_round(project, people, **{"kind": KIND, "name": "Clarity", "allocation": "dealt"} | plan)


def work(round: Round, people: list[Member], points: Callable[[int, int], int]) -> None:
    """All answer all that they are handed: points of the target by (who, which unit), 2 for each input."""
    for who, person in enumerate(people):
        while held := next_assignments(user=person.user, round=round):
            number = int(held[0].unit.key[4:8])
            answer(person.user, held[0], rating(points(who, number), remark="so so"), kind=KIND)


def finished(round: Round) -> dict[str, int]:
    close_round(round=round, by=None)
    round.refresh_from_db()
    decisions: dict[str, int] = finish_round(round=round, by=None)["decisions"]
    return decisions


def test_each_person_has_an_order_of_their_own_which_stays(project: Project, people: list[Member]) -> None:
    round = opened(project, people, overlap=3)
    slots = list(round.assignments.select_related("unit", "round", "person").order_by("pk"))
    first = {(card["assignment"], card["texts"][0]["key"]) for card in cards(round, slots)}
    assert first == {(card["assignment"], card["texts"][0]["key"]) for card in cards(round, slots)}
    keys = dict(first)
    by_unit = {slot.unit_id: {keys[other.pk] for other in slots if other.unit_id == slot.unit_id} for slot in slots}
    assert {"target", "input"} in by_unit.values()
    by_person = {
        slot.person_id: {keys[other.pk] for other in slots if other.person_id == slot.person_id} for slot in slots
    }
    assert list(by_person.values()) == [{"target", "input"}] * 3


def test_a_round_with_overlap_block_and_repeats_gives_gold_and_agreement(
    project: Project, people: list[Member]
) -> None:
    round = opened(project, people, block_share=0.5, block_overlap=3, repeat_share=0.2, repeat_distance=1)
    asked = Counter(round.assignments.filter(repeat=0).values_list("unit", flat=True))
    assert sorted(asked.values()) == [1] * 5 + [3] * 5
    assert round.assignments.filter(repeat=1).exists()
    work(round, people, lambda who, number: 4 if who < 2 else 3)
    assert finished(round) == {"single": 10, "by majority": 5, "unanimous": 5}

    report = agreement_queries.report(round)
    [points] = report["measures"]
    # Each of five units in the block is two items: its target and its input.
    assert (points["all_agree"], points["missing_share"]) == ({"count": 5, "of": 10}, 0)
    given = np.array([[4.0] * 5 + [2.0] * 5, [4.0] * 5 + [2.0] * 5, [3.0] * 5 + [2.0] * 5])
    oracle = krippendorff.alpha(given, level_of_measurement="interval")
    assert points["coefficients"]["alpha"]["value"] == pytest.approx(oracle)
    assert "ac2" in points["coefficients"]
    apart, remarks, *passages = report["spans"]
    assert (apart["name"], apart["method"], apart["units"]) == ("points", "mean absolute difference", 10)
    assert apart["value"] == pytest.approx((5 * 2 / 3 + 5 * 0) / 10)
    assert remarks["value"] == 1
    assert [one["undefined"] for one in passages] == ["no span marked"] * 2
    assert report["repeats"]["measures"][0]["all_agree"]["of"] > 0

    units = [d.unit for d in Decision.objects.filter(kind=KIND, field="target", origin=Origin.MAJORITY)]
    assert {value["target"] for value in current_values(units, KIND).values()} == {4}


def test_nested_spans_of_one_type_are_stored_compared_and_returned(project: Project, people: list[Member]) -> None:
    round = opened(project, people, overlap=3)

    def passage(text: str, start: int, end: int) -> dict[str, Any]:
        return {"start": start, "end": end, "quote": text[start:end]}

    for who, person in enumerate(people):
        while held := next_assignments(user=person.user, round=round):
            text = kinds.get(KIND).texts([held[0].unit_id])[held[0].unit_id]
            nested = [passage(text, 0, 11), passage(text, 5, 11)]
            crossing = passage(text, 3, 13)
            passages = [*nested, crossing] if who == 0 else nested
            answer(person.user, held[0], rating() | {"passages": passages}, kind=KIND)
    assert {len(row.passages) for row in TextRating.objects.all()} == {2, 3}
    finished(round)
    # Two of three pairs differ by one span of three: F1 is 4/5. All spans share characters, as many as can be matched.
    _, _, exact, overlap = agreement_queries.report(round)["spans"]
    assert exact["value"] == pytest.approx((4 / 5 + 4 / 5 + 1) / 3)
    assert (exact["units"], exact["method"]) == (10, "mean pairwise F1 of spans, same characters")
    assert overlap["value"] == pytest.approx((4 / 5 + 4 / 5 + 1) / 3)


def test_a_wrong_quote_is_an_error_of_its_field(project: Project, people: list[Member]) -> None:
    round = opened(project, people, overlap=3)
    [assignment, *_] = next_assignments(user=people[0].user, round=round)
    passages = [{"start": 0, "end": 3, "quote": "no such words"}]
    with pytest.raises(Refused) as refused:
        answer(people[0].user, assignment, rating() | {"passages": passages}, kind=KIND)
    assert [error["field"] for error in refused.value.errors] == ["value.passages"]


def test_the_policy_of_the_round_decides_what_is_contested(project: Project, people: list[Member]) -> None:
    round = opened(project, people, overlap=3, policy={"points": "all the same"})
    work(round, people, lambda who, number: 4 if who < 2 or number else 3)
    assert finished(round) == {"contested": 1, "unanimous": 19}


@pytest.fixture
def aggregated_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind without a rule of its own, and with lists as values."""
    values = TwoTextsKind.values

    def lists(kind: TwoTextsKind, answers: Iterable[Any]) -> dict[Any, Any]:
        said = values(kind, answers)
        return {uuid: {name: [value[name], {"of": 5}] for name in ("target", "input")} for uuid, value in said.items()}

    monkeypatch.setattr(TwoTextsKind, "aggregate", kinds.Kind.aggregate)
    monkeypatch.setattr(TwoTextsKind, "values", lists)


@pytest.mark.usefixtures("aggregated_by_default")
def test_list_values_become_gold_by_majority_where_a_kind_has_no_rule(project: Project, people: list[Member]) -> None:
    round = opened(project, people, overlap=3)
    # Of unit 0 all say something else, of the others two of three the same.
    work(round, people, lambda who, number: who + 1 if number == 0 else 4 - (who == 2))
    assert finished(round) == {"contested": 1, "by majority": 9, "unanimous": 10}
    units = [d.unit for d in Decision.objects.filter(kind=KIND, field="target", origin=Origin.MAJORITY)]
    assert [value["target"] for value in current_values(units, KIND).values()] == [[4, {"of": 5}]] * 9


@pytest.mark.usefixtures("aggregated_by_default")
@pytest.mark.parametrize("at_once", [100, 0])
def test_a_round_whose_fields_are_not_in_its_answers_is_refused_before_it_opens(
    project: Project, people: list[Member], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(TwoTextsKind, "fields", ("target", "clarity"))
    monkeypatch.setattr(preparing, "AT_ONCE", at_once)
    plan = RoundPlan(name="Clarity", kind=KIND, purpose="gold", overlap=1, people=[m.pk for m in people])
    with pytest.raises(Refused, match="no field clarity, so they cannot form gold") as refused:
        preparing.begin_round(project=project, plan=plan, by=None)
    assert [error["field"] for error in refused.value.errors] == ["purpose"]
    assert not Round.objects.exists()
    preparing.begin_round(project=project, plan=replace(plan, purpose="measure only"), by=None)


def test_options_of_the_round_are_checked_with_each_answer(project: Project, people: list[Member], ann1: User) -> None:
    round = opened(project, people, options={"why": True}, filters={"inputs": 1})
    [slot, *_] = next_assignments(user=ann1, round=round)
    with pytest.raises(Refused, match="unclear"):
        answer(ann1, slot, rating(input=1), kind=KIND)
    assert answer(ann1, slot, rating(input=1, remark="No outcome."), kind=KIND).answer
    with pytest.raises(Refused):
        opened(project, people, options={"why": "perhaps"})
    with pytest.raises(Refused):
        opened(project, people, filters={"inputs": 0})


def test_a_rating_is_never_changed(project: Project, people: list[Member]) -> None:
    round = opened(project, people)
    work(round, people, lambda who, number: 4)
    with pytest.raises(DatabaseError, match="never changed"), atomic():
        TextRating.objects.update(target=1)


def test_a_kind_of_another_app_can_be_answered_in_a_sheet(
    project: Project, people: list[Member], ann1: User, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    round = opened(project, people)
    me = next(person for person in people if person.user == ann1)
    reply = client_of(lead).post(
        f"{API}/rounds/{round.pk}/sheet/", {"person": me.pk, "file_type": "csv"}, format="json"
    )
    assert reply.status_code == 200, reply.content
    rows = list(csv.reader(b"".join(reply.streaming_content).decode("utf-8-sig").splitlines()))  # type: ignore[attr-defined]
    head = rows[0]
    assert {"text", "other", "target", "input", "remark"} <= set(head)
    for row in rows[1:]:
        row[head.index("target")], row[head.index("input")] = "5", "3"
    rows[1][head.index("input")] = "6"
    body = "\r\n".join(",".join(f'"{cell}"' for cell in row) for row in rows).encode()
    job = start_import(round=round, file=SimpleUploadedFile("back.csv", body), by=lead)
    run_job(job.pk)
    job.refresh_from_db()
    assert job.status == "done", job.error
    assert job.result
    assert [fault["message"] for fault in job.result["faults"]["listed"]] == ["'6' is not one of 1 to 5"]
    assert set(TextRating.objects.values_list("target", "input")) == {(5, 3)}
    assert TextRating.objects.count() == len(rows) - 2


def test_the_curate_page_shows_and_changes_the_value_with_its_history(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    round = opened(project, people)
    work(round, people, lambda who, number: 4)
    finished(round)
    client, review = client_of(lead), Review.objects.order_by("pk")[0]
    [shown] = client.get(f"{API}/reviews/{review.pk}/curation/").json()["clusters"]
    [cell] = [other for other in shown["others"] if other["kind"] == KIND]
    assert (cell["kind"], cell["value"], cell["origin"]) == (KIND, {"target": 4, "input": 2}, "single")
    assert KIND not in {other["kind"] for p in shown["propositions"] for other in p["others"]}
    row = {"unit": shown["unit"], "kind": KIND, "value": rating(5), "shown": cell["shown"], "seen": cell["seen"]}
    uuid = "6f1f7a8e-2e5c-4a2c-9f3e-0d7f6c1f6f01"
    reply = client.post(
        f"{API}/reviews/{review.pk}/corrections/", {"uuid": uuid, "reason": "Clear.", "rows": [row]}, format="json"
    )
    assert reply.status_code == 201, reply.content
    [after] = [other for other in reply.json()["clusters"][0]["others"] if other["kind"] == KIND]
    assert (after["value"]["target"], after["origin"]) == (5, "decided by a curator")
    history = client.get(f"{API}/clusters/{shown['id']}/").json()["history"]
    said = [(one["field"], one["value"], one["reason"]) for one in history if one["kind"] == KIND]
    assert said == [("target", "4 of 5", ""), ("input", "2 of 5", ""), ("target", "5 of 5", "Clear.")]


def test_the_curate_page_asks_no_more_for_more_clusters(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    client, review = client_of(lead), Review.objects.order_by("pk")[0]
    for cluster in review.clusters.all():
        correct(unit=cluster.unit, kind=KIND, value=rating(), reason="", by=people[0])
    counts = []
    for clusters in (1, 4):
        with CaptureQueriesContext(connection) as queries:
            shown = client.get(f"{API}/reviews/{review.pk}/curation/").json()["clusters"]
        assert len(shown) == clusters
        counts.append(len(queries))
        said = dict.fromkeys(("sentence", "tuple", "label", "relation"))
        inputs = [{"pmid": "12038941", "text": "It fell in one study.", "label": None}]
        rows = [{"text": "It fell.", "inputs": inputs, **said}] * 3
        add_clusters(review=review, rows=rows, by=people[0], batch=uuids.uuid4())
    assert counts[0] == counts[1]


def test_a_corrected_text_makes_it_stale(project: Project, people: list[Member], lead: User) -> None:
    by = people[0]
    cluster = project.clusters.order_by("pk")[0]
    correct(unit=cluster.unit, kind=KIND, value=rating(), reason="", by=by)
    assert stale_units([cluster.unit_id]) == set()
    supersede_text(proposition=cluster.propositions.get(position=1), text="Better.", reason="Typing error.", by=by)
    assert (cluster.unit_id, KIND) in stale_units([cluster.unit_id])


def test_disagreements_are_adjudicated(
    project: Project, people: list[Member], lead: User, client_of: Callable[[User], APIClient]
) -> None:
    round = opened(project, people, overlap=3, policy={"points": "all the same"})
    work(round, people, lambda who, number: 4 if who < 2 or number else 3)
    finished(round)
    client, unit = client_of(lead), Decision.objects.get(kind=KIND, origin=Origin.CONTESTED).unit
    assert [row["unit"] for row in queue(client, round)["rows"]] == [unit.pk]
    third = answer_by(round, unit, people[2])
    assert take(client, round, unit, third).status_code == 201
    assert current_values([unit], KIND) == {unit.pk: {"target": 3, "input": 2}}
    others = Decision.objects.filter(kind=KIND).exclude(unit=unit)
    assert set(others.values_list("origin", flat=True)) == {Origin.UNANIMOUS}


def test_practice_gives_feedback_at_once_and_its_answers_do_not_count(project: Project, people: list[Member]) -> None:
    for cluster in project.clusters.order_by("pk")[:5]:
        correct(
            unit=cluster.unit, kind=KIND, value=rating(5, 1, "As the guideline has it."), reason="Clear.", by=people[0]
        )
    trial = opened(project, people[1:], purpose="practice", terms={"pass_mark": 80, "tries": 1, "attempts": 1})
    good, bad = people[1:]
    real = opened(project, people[1:], name="real", requires_practice=trial.pk)
    for person, points in ((good, 5), (bad, 4)):
        while held := next_assignments(user=person.user, round=trial):
            stored = answer(person.user, held[0], rating(points, 1, "Mine."), kind=KIND).answer
    told = practice_queries.feedback(trial, stored)
    assert [(f["field"], f["right"], f["expected"]) for f in told["fields"]] == [
        ("target", False, "5 of 5"),
        ("input", True, "1 of 5"),
    ]
    assert next_assignments(user=good.user, round=real) != []
    assert next_assignments(user=bad.user, round=real) == []
    before = set(Decision.objects.values_list("pk", flat=True))
    finished(trial)
    assert set(Decision.objects.values_list("pk", flat=True)) == before


def test_a_release_has_a_tidy_row_for_each_text_and_repeats_its_figures(
    project: Project, people: list[Member], tmp_path: Path
) -> None:
    round = opened(project, people, overlap=3)
    work(round, people, lambda who, number: 1 + (number + who) % 5)
    finished(round)
    folder = released(project, tmp_path / "release")
    [path] = (folder / "answers").glob("*.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10 * 3 * 2
    assert {row["about"] for row in rows} == {"target", "input"}
    findings = Findings()
    again.recompute(Folder(folder), findings)
    assert (findings.differences, findings.not_recomputed) == ([], [])


def test_no_file_of_the_product_names_it() -> None:
    found = subprocess.run(
        ["git", "grep", "-l", "-i", "two_texts\\|TwoTexts\\|two-texts", "--", ":!tests", ":!*.md", ":!pyproject.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.split() == []


def test_it_belongs_to_a_group_of_tasks(project: Project) -> None:
    found = previews.choices(project)
    choice = next(one for one in found["kinds"] if one["key"] == KIND)
    assert choice["group"] in [group.title for group in found["groups"]]


@pytest.mark.long
def test_a_kind_of_another_app_has_its_own_schema(tmp_path: Path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", file=str(tmp_path / "schema.yml"))
    assert "TwoTextsCard" in (tmp_path / "schema.yml").read_text(encoding="utf-8")
    assert "TwoTexts" not in (ROOT / "frontend" / "schema.yml").read_text(encoding="utf-8")


def test_a_kind_of_another_app_is_discovered() -> None:
    assert KIND in {kind.key for kind in kinds.all_kinds()}
