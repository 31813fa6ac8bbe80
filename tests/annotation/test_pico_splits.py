"""Splitting target sentences into propositions: answers, current values, and resulting clusters."""

import uuid
from collections.abc import Callable, Hashable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.pico import form_of
from annotation.curation.actions import add_clusters, add_review
from annotation.kinds.pico.kind import PicoKind, PicoValueSerializer
from annotation.models import Cluster, PicoElement, PicoFragment, Proposition, Review, Target
from api.problems import Refused
from audit.verify import findings
from measures.text_agreement import compared
from projects.agreement.queries import report
from projects.curation.actions import Correction, correct, correct_all
from projects.gold.actions import finish_round
from projects.gold.queries import current_decisions
from projects.models import Decision, Member, Origin, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from projects.staleness.actions import stale_units
from tests.builders import answer, build_round, label_value
from tests.projects.adjudication import answer_by, send, take

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
Client = Callable[[User], APIClient]
TEXT = "In adults with asthma, nepralin lowered relapse and improved sleep compared with dorsalin."


def slot(text: str, of: str = TEXT) -> Json:
    """Return the element with its offsets in the text, or as typed text."""
    at = of.find(text) if text else -1
    return {"text": text, "fragments": [{"start": at, "end": at + len(text), "quote": text}] if at >= 0 else []}


def row(p: str = "", i: str = "nepralin", c: str = "dorsalin", o: str = "relapse", stands_for: str = "") -> Json:
    return {"p": slot(p), "i": slot(i), "c": slot(c) | {"stands_for": stands_for}, "o": slot(o)}


def split(*rows: Json) -> Json:
    return {"tuples": list(rows)}


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


@pytest.fixture
def two(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


@pytest.fixture
def review(project: Project, by: Member) -> Review:
    rows = [{"text": TEXT, "inputs": []}]
    return add_review(project=project, pmid="27000001", title="Asthma", abstract="", sentences=rows, by=by)


@pytest.fixture
def target(review: Review) -> Target:
    return Target.objects.select_related("unit").get(review=review)


def clusters(target: Target) -> list[Cluster]:
    return list(Cluster.objects.current().filter(sentence=target).order_by("position"))


def tuples(target: Target) -> list[list[str]]:
    return [[s.text for s in c.pico.order_by("id")] for c in clusters(target)]


def decide(target: Target, by: Member, *rows: Json, reason: str = "As read.") -> None:
    correct(unit=Unit.objects.get(pk=target.unit_id), kind="pico", value=split(*rows), reason=reason, by=by)


def work(round: Round, people: list[Member], *values: Json) -> None:
    for person, value in zip(people, values, strict=True):
        answer(person.user, next_assignments(user=person.user, round=round)[0], value, kind="pico")
    close_round(round=round, by=people[0].user)
    round.refresh_from_db()
    finish_round(round=round, by=people[0].user)


def test_a_current_split_makes_one_cluster_per_tuple(target: Target, by: Member) -> None:
    decide(target, by, row(p="adults with asthma"), row(p="[children]", c="", o="sleep", stands_for="placebo"))
    first, second = clusters(target)
    assert (first.key, second.key, first.review_id) == ("27000001_0", "27000001_1", target.review_id)
    assert tuples(target) == [
        ["adults with asthma", "nepralin", "dorsalin", "relapse"],
        ["[children]", "nepralin", "", "sleep"],
    ]
    claims = Proposition.objects.filter(cluster__in=[first, second])
    assert [(p.position, p.text, p.unit.type, p.unit.made_by_id) for p in claims] == [
        (0, TEXT, "proposition", by.user_id),
        (0, TEXT, "proposition", by.user_id),
    ]
    forms = {s.element: (s.form, s.stands_for) for s in PicoElement.objects.filter(cluster=second)}
    assert forms == {"p": ("implied", ""), "i": ("explicit", ""), "c": ("blank", "placebo"), "o": ("explicit", "")}
    [place] = PicoFragment.objects.filter(element__cluster=second, element__element="o")
    assert TEXT[place.start : place.end] == "sleep"
    assert Cluster.objects.current().found_by("[children]").get() == second
    assert list(findings()) == []


def test_an_m3_file_keeps_the_published_forms_of_elements(target: Target, by: Member) -> None:
    """Brackets round-trip: a file has what is stored, and its text is parsed to the same form."""
    marked = row(p="[young] adults", i="relapse [rates]", o="rs4236601[A]")
    marked["p"]["fragments"] = slot("adults")["fragments"]
    decide(target, by, marked)
    for one in PicoElement.objects.filter(cluster__in=clusters(target)):
        assert form_of(one.text, TEXT)[0] == one.form, one.text
    assert PicoElement.objects.get(cluster__in=clusters(target), element="p").form == "partly implied"


def test_a_changed_split_keeps_unchanged_clusters_and_replaces_others(target: Target, by: Member) -> None:
    decide(target, by, row(), row(o="sleep"))
    kept, gone = clusters(target)
    old = Proposition.objects.get(cluster=gone)
    correct(
        unit=old.unit, kind="label", value=label_value() | {"polarity_cue": [], "modality_cue": []}, reason="", by=by
    )
    decide(target, by, row(o="improved sleep"), row())
    assert clusters(target)[0] == kept
    assert tuples(target) == [["", "nepralin", "dorsalin", "relapse"], ["", "nepralin", "dorsalin", "improved sleep"]]
    new = Proposition.objects.get(cluster=clusters(target)[1])
    assert stale_units([new.unit_id, Proposition.objects.get(cluster=kept).unit_id]) == {(new.unit_id, "label")}
    old.unit.refresh_from_db()
    assert old.unit.superseded_by_id == new.unit_id
    assert Unit.objects.get(pk=gone.unit_id).superseded_by_id == target.review.unit_id
    assert list(findings()) == []


def test_case_spaces_and_order_change_no_cluster(target: Target, by: Member) -> None:
    decide(target, by, row(), row(o="sleep"))
    before = clusters(target)
    decide(target, by, row(o="Sleep "), row())
    assert clusters(target) == before


def test_a_tuple_corrected_on_its_own_stays_with_its_cluster(target: Target, by: Member) -> None:
    decide(target, by, row())
    [made] = clusters(target)
    correct(unit=made.unit, kind="tuple", value=row(o="early relapse"), reason="More exactly.", by=by)
    decide(target, by, row(), row(o="sleep"))
    assert tuples(target) == [["", "nepralin", "dorsalin", "early relapse"], ["", "nepralin", "dorsalin", "sleep"]]
    assert clusters(target)[0] == made


def test_clusters_that_were_typed_by_hand_are_adopted_or_left_alone(target: Target, by: Member, review: Review) -> None:
    rows: list[Json] = [
        {"text": TEXT, "sentence": target.pk, "tuple": row(o=o), "label": None, "relation": None, "inputs": []}
        for o in ("relapse", "cough")
    ]
    typed = add_clusters(review=review, rows=rows, by=by, batch=uuid.uuid4())
    decide(target, by, row(), row(o="sleep"))
    assert [c.pk for c in clusters(target)][:2] == [c.pk for c in typed]
    assert len(clusters(target)) == 3
    decide(target, by, row(o="sleep"))
    assert [c.pk for c in clusters(target)][:2] == [c.pk for c in typed]


def test_answers_that_differ_in_case_are_unanimous(target: Target, two: list[Member]) -> None:
    round = build_round(target.project, two, kind="pico", overlap=2)
    work(round, two, split(row()), split(row(o="Relapse")))
    assert len(clusters(target)) == 1
    assert current_decisions([target.unit_id], "pico")[target.unit_id, "tuples"].origin == Origin.UNANIMOUS
    [decision] = Decision.objects.filter(unit=target.unit_id, kind="pico")
    assert decision.round == round


def test_disagreements_on_splits_wait_for_a_curator_whose_decision_can_be_undone(
    target: Target, two: list[Member], lead: User, client_of: Client
) -> None:
    round = build_round(target.project, two, kind="pico", overlap=2)
    card = cards(round, next_assignments(user=two[0].user, round=round))[0]
    assert (card["text"], card["key"], card["title"], card["current"]) == (TEXT, "27000001_0", "Asthma", None)
    work(round, two, split(row()), split(row(), row(o="sleep")))
    assert clusters(target) == []
    [contest] = Decision.objects.filter(unit=target.unit_id, kind="pico").contested()
    assert contest.field == "tuples"
    client, act = client_of(lead), str(uuid.uuid4())
    assert take(client, round, target.unit, answer_by(round, target.unit, two[1]), uuid=act).status_code == 201
    assert len(clusters(target)) == 2
    assert send(client, round, "undo/", act=act).status_code == 201
    assert clusters(target) == []
    assert list(findings()) == []


def test_a_correction_round_shows_current_values(target: Target, by: Member, two: list[Member]) -> None:
    decide(target, by, row())
    round = build_round(target.project, two[:1], kind="pico", purpose="review and correct")
    [card] = cards(round, next_assignments(user=two[0].user, round=round))
    assert card["current"] == split(row())


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (split(), "empty"),
        (split(row(), row(o=" Relapse", stands_for="")), "Proposition 2 has the same tuple as proposition 1."),
        (split(row(c=""), row(c="", stands_for="placebo")), "Proposition 2 has the same tuple as proposition 1."),
        (split(row("", "", "", "")), "at least one element"),
        (split(row() | {"i": slot("nepralin") | {"text": "x"}}), "pieces"),
    ],
)
def test_invalid_splits_are_refused(value: Json, says: str) -> None:
    shape = PicoValueSerializer(data=value)
    assert not shape.is_valid()
    assert says in str(shape.errors)


def test_marked_pieces_must_stand_in_the_sentence(target: Target, by: Member) -> None:
    wrong = row() | {"o": {"text": "asthma", "fragments": [{"start": 0, "end": 6, "quote": "asthma"}]}}
    with pytest.raises(Refused) as refused:
        decide(target, by, row(), wrong)
    assert refused.value.errors[0]["field"] == "value.tuples.1.o.fragments"


def test_agreement_is_by_element_in_sentence_order_and_over_all_tuples(target: Target, two: list[Member]) -> None:
    round = build_round(target.project, two, kind="pico", overlap=2)
    work(round, two, split(row(o="sleep"), row()), split(row(), row(o="improved sleep", c="")))
    found = {(c["name"], c["method"]): c["value"] for c in report(round)["spans"]}
    assert found["O pieces", "mean pairwise F1 of words"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["O slot", "share of same texts"] == 0.5
    assert found["I pieces", "share of identical spans"] == 1
    assert found["tuple of the same number", "share of same tuples"] == 0.5
    assert found["all tuples of a sentence", "mean pairwise Jaccard index"] == pytest.approx(1 / 3)
    assert found["number of propositions", "mean absolute difference"] == 0


def test_splits_in_another_order_are_compared_by_their_content() -> None:
    kind = PicoKind()
    said = [
        (f"u{cells['proposition']}", rater, cells)
        for rater, value in (("a", split(row(), row(o="sleep"))), ("b", split(row(o="sleep"), row())))
        for cells in kind.rows(value)
    ]
    texts: dict[Hashable, str] = {"u1": TEXT, "u2": TEXT}
    assert {c.value for c in compared(kind.comparisons, said, texts) if c.value is not None} == {0, 1}
    assert kind.distance("tuples", split(row(), row(o="sleep")), split(row(o="sleep"), row())) == 0
    assert 0 < kind.distance("tuples", split(row()), split(row(), row(o="sleep"))) < 1
    assert kind.sentence("tuples", split(row(), row(p="adults", c="", o="sleep", stands_for="placebo"))) == (
        "1. nepralin, against dorsalin → relapse; 2. In adults: nepralin, against placebo → sleep"
    )


def test_six_sentences_need_no_more_queries_to_be_followed_than_one(project: Project, by: Member) -> None:
    rows = [{"text": TEXT, "inputs": []} for _ in range(7)]
    review = add_review(project=project, pmid="27000002", title="", abstract="", sentences=rows, by=by)
    targets = list(Target.objects.filter(review=review).select_related("unit"))
    counts = []
    for some in (targets[:1], targets[1:]):
        cells = [Correction(t.unit, "pico", split(row(), row(o="sleep"))) for t in some]
        with CaptureQueriesContext(connection) as counted:
            correct_all(cells, project=project, reason="", by=by)
        counts.append(len(counted))
    # Each value is checked against its sentence.
    assert counts[1] - counts[0] <= 5 + 2
    assert [len(clusters(t)) for t in targets] == [2] * 7


def test_the_curate_page_shows_current_values_of_a_sentence(
    target: Target, by: Member, lead: User, client_of: Client
) -> None:
    decide(target, by, row())
    page = client_of(lead).get(f"/api/v1/reviews/{target.review_id}/curation/").json()
    [cell] = page["targets"][0]["others"]
    assert (cell["kind"], cell["value"], cell["origin"]) == ("pico", split(row()), Origin.CURATED)
    assert page["targets"][0]["unit"] == target.unit_id
    assert page["clusters"][0]["tuple"]["origin"] == Origin.CURATED
    sent = {"kind": "pico", "value": split(row(o="sleep")), "reason": "So it reads."}
    response = client_of(lead).post(f"/api/v1/units/{target.unit_id}/corrections/", sent, format="json")
    assert response.status_code in (200, 201), response.json()
    assert tuples(target) == [["", "nepralin", "dorsalin", "sleep"]]
