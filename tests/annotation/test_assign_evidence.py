"""Assigning inputs of a target sentence to its propositions: answers, current values, and resulting input
propositions.
"""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.sentences import split
from annotation.curation.actions import add_clusters
from annotation.kinds.supersede import supersede_target, supersede_text
from annotation.models import Cluster, EvidencePair, Input, Proposition, Review, Study, Target
from api.problems import Refused
from audit.actions import create_checkpoints
from audit.verify import findings
from projects import kinds
from projects.agreement.queries import report
from projects.curation.actions import Correction, correct, correct_all
from projects.gold.actions import finish_round
from projects.gold.queries import current_decisions
from projects.models import Decision, Member, Origin, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.queue.serializers import CARDS
from projects.rounds.actions import close_round
from projects.staleness.actions import stale_units
from tests.annotation.test_evidence_kind import build_review
from tests.annotation.test_evidence_kind import support as supports
from tests.builders import answer, build_round
from tests.projects.adjudication import answer_by, send, take
from tests.projects.test_loop_api import body_of, put

pytestmark = pytest.mark.django_db
KIND = "assign_evidence"
Json = dict[str, Any]
Client = Callable[[User], APIClient]
TEXT = "Nepralin reduces attacks of migraine and improves sleep."
TEXTS = ["Nepralin reduced attacks.", "Sleep improved on nepralin.", "Neither attacks nor sleep differed."]


def slot(text: str) -> Json:
    return {"text": text, "fragments": []}


def tuple_of(outcome: str) -> Json:
    return {"p": slot(""), "i": slot("nepralin"), "c": slot("") | {"stands_for": ""}, "o": slot(outcome)}


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


@pytest.fixture
def two(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


@pytest.fixture
def target(project: Project) -> Target:
    """A sentence with three inputs of three studies."""
    review = build_review(project, studies=3, texts=(TEXT,))
    target = Target.objects.select_related("unit").get()
    for n, (study, text) in enumerate(zip(review.studies().exclude(abstract="").order_by("pk"), TEXTS, strict=True), 1):
        Input.objects.create(target=target, study=study, position=n, text=text)
    return target


@pytest.fixture
def clusters(target: Target, by: Member) -> list[Cluster]:
    """Its two propositions."""
    correct(unit=target.unit, kind="pico", value={"tuples": [tuple_of("attacks"), tuple_of("sleep")]}, reason="", by=by)
    return list(Cluster.objects.select_related("unit").order_by("position"))


def said(*numbers: int, of: int = 3) -> Json:
    one = [{"number": n, "said": "supports" if n in numbers else "does not"} for n in range(1, of + 1)]
    return {"supporting": one}


def inputs(cluster: Cluster) -> list[str]:
    rows = Proposition.objects.current().filter(cluster=cluster, position__gte=1)
    return list(rows.order_by("position").values_list("text", flat=True))


def decide(cluster: Cluster, by: Member, *numbers: int, of: int = 3) -> None:
    unit = Unit.objects.get(pk=cluster.unit_id)
    correct(unit=unit, kind=KIND, value=said(*numbers, of=of), reason="As read.", by=by)


def test_a_cluster_is_asked_about_the_inputs_of_its_sentence(
    project: Project, clusters: list[Cluster], two: list[Member], by: Member
) -> None:
    typed: Json = {"text": "By itself.", "sentence": None, "tuple": None, "label": None, "relation": None, "inputs": []}
    add_clusters(review=clusters[0].review, rows=[typed], by=by, batch=uuid.uuid4())
    kind = kinds.get(KIND)
    assert list(kind.units(project)) == [c.unit for c in clusters], "one without a sentence has nothing to be asked of"
    round = build_round(project, two[:1], kind=KIND)
    found = cards(round, next_assignments(user=two[0].user, round=round))
    card = CARDS[KIND](data=found[0])
    assert card.is_valid(), card.errors
    assert found[0]["text"] == TEXT
    assert [one["text"] for one in found[0]["pico"]] == ["", "nepralin", "", "attacks"]
    assert [(one["number"], one["text"]) for one in found[0]["inputs"]] == list(enumerate(TEXTS, start=1))
    assert kind.rolls, "clusters that come to have inputs can follow"


def test_every_input_must_be_judged(project: Project, clusters: list[Cluster], two: list[Member]) -> None:
    round = build_round(project, two[:1], kind=KIND)
    held = next_assignments(user=two[0].user, round=round)[0]
    for value in (said(1, of=2), said(1, of=4), Json(supporting=[])):
        with pytest.raises(Refused, match="every input"):
            answer(two[0].user, held, value, kind=KIND)
    serializer = kinds.get(KIND).value_serializer
    twice = [{"number": 1, "said": "supports"}, {"number": 1, "said": "does not"}]
    for wrong in ({}, {"supporting": twice}, {"supporting": [{"number": 1, "said": "perhaps"}]}):
        assert not serializer(data=wrong).is_valid(), wrong
    kind = kinds.get(KIND)
    assert kind.in_words(said(1, 3)) == {"supporting": "inputs 1, 3 (of 3)"}
    assert kind.in_words(said()) == {"supporting": "none of 3 inputs"}
    assert kind.distance("supporting", said(1, 3), said(1)) == pytest.approx(1 / 3)
    assert kind.distance("supporting", said(of=0), said(of=0)) == 0


def test_current_assignments_create_input_propositions(clusters: list[Cluster], by: Member) -> None:
    first, second = clusters
    decide(first, by, 1, 3)
    decide(second, by, 2, 3)
    assert inputs(first) == [TEXTS[0], TEXTS[2]]
    assert inputs(second) == TEXTS[1:]
    rows = Proposition.objects.filter(cluster=first, position__gte=1).order_by("position")
    assert [(p.unit.key, p.unit.context, p.study and p.study.pmid) for p in rows] == [
        ("26000000_0/1", first.unit_id, "10000000"),
        ("26000000_0/2", first.unit_id, "10000002"),
    ]
    assert set(Cluster.objects.found_by("sleep differed")) == set(clusters), "a search finds it by its new inputs"
    create_checkpoints()
    assert list(findings()) == []


def test_a_cluster_without_evidence_is_asked_again_when_it_has_some(
    project: Project, target: Target, clusters: list[Cluster], two: list[Member], by: Member
) -> None:
    round = build_round(project, two, kind=KIND, overlap=2)
    answer(two[0].user, next_assignments(user=two[0].user, round=round)[0], said(1), kind=KIND)
    hands = [next_assignments(user=each.user, round=round) for each in two]
    Input.objects.filter(target=target).update(is_current=False)
    assert [card["inputs"] for card in cards(round, hands[1])] == [[], []]
    with pytest.raises(Refused, match="every input"):
        answer(two[1].user, hands[1][0], said(1), kind=KIND)
    for each, held in zip(two, hands, strict=True):
        for slot in held:
            answer(each.user, slot, said(of=0), kind=KIND)
    close_round(round=round, by=by.user)
    finish_round(round=round, by=by.user)
    [empty] = Decision.objects.filter(kind=KIND).exclude(answer=None)
    assert (empty.unit_id, inputs(clusters[1])) == (clusters[1].unit_id, []), "of the other some was said before"
    assert kinds.get(KIND).in_words(said(of=0)) == {"supporting": "no inputs"}
    pair = EvidencePair.objects.create(
        target=target,
        study=target.inputs.order_by("position")[0].study,
        unit=Unit.objects.create(project=project, type="target and study", key="a pair"),
    )
    split([pair.study])
    correct(unit=pair.unit, kind="evidence", value=supports(2), reason="Read again.", by=by)
    assert stale_units([one.unit_id for one in clusters]) >= {(one.unit_id, KIND) for one in clusters}


def test_changed_assignments_remove_and_restore_inputs(clusters: list[Cluster], by: Member) -> None:
    first = clusters[0]
    decide(first, by, 1, 3)
    correct(unit=first.unit, kind="discourse", value={"relation": "agreement"}, reason="", by=by)
    gone = Proposition.objects.get(cluster=first, text=TEXTS[2])
    decide(first, by, 1, 2)
    assert inputs(first) == [TEXTS[0], TEXTS[1]]
    assert (first.unit_id, "discourse") in stale_units([first.unit_id]), "other inputs, another relation perhaps"
    assert not Cluster.objects.found_by("sleep differed").exists()
    decide(first, by, 1, 2, 3)
    assert inputs(first) == [TEXTS[0], TEXTS[2], TEXTS[1]]
    assert Proposition.objects.current().get(text=TEXTS[2]) == gone
    decide(first, by)
    assert inputs(first) == []
    assert list(findings()) == []
    Unit.objects.filter(pk=gone.unit_id).update(superseded_by=None)
    assert list(findings()) == [], "it was brought back before"


def test_a_unit_removed_without_a_log_entry_is_found(clusters: list[Cluster], by: Member) -> None:
    decide(clusters[0], by, 1)
    made = Proposition.objects.get(cluster=clusters[0], position=1)
    Unit.objects.filter(pk=made.unit_id).update(superseded_by=clusters[0].unit)
    [found] = findings()
    assert "the audit log has no entry" in str(found)


def test_a_corrected_document_stays_corrected_and_is_not_duplicated(clusters: list[Cluster], by: Member) -> None:
    first = clusters[0]
    decide(first, by, 1)
    made = Proposition.objects.select_related("unit", "cluster").get(cluster=first, position=1)
    supersede_text(proposition=made, text="Nepralin reduced the attacks.", reason="A word.", by=by)
    decide(first, by, 1, 2)
    assert inputs(first) == ["Nepralin reduced the attacks.", TEXTS[1]]
    decide(first, by, 2)
    assert inputs(first) == [TEXTS[1]]
    decide(first, by, 1, 2)
    assert inputs(first) == ["Nepralin reduced the attacks.", TEXTS[1]]


def test_typed_evidence_counts_for_equal_inputs_and_others_are_kept(
    target: Target, by: Member, two: list[Member], lead: User, client_of: Client
) -> None:
    rows: list[Json] = [
        {
            "text": TEXT,
            "sentence": target.pk,
            "tuple": tuple_of("attacks"),
            "label": None,
            "relation": None,
            "inputs": [
                {"pmid": "10000000", "text": TEXTS[0], "label": None},
                {"pmid": "10000001", "text": TEXTS[1], "label": None},
                {"pmid": "10000000", "text": "From the full text.", "label": None},
            ],
        }
    ]
    [cluster] = add_clusters(review=target.review, rows=rows, by=by, batch=uuid.uuid4())
    round = build_round(target.project, two, kind=KIND, overlap=2)
    work(round, two, said(1, 3), said(2))
    [contest] = Decision.objects.filter(kind=KIND).contested()
    assert len(inputs(cluster)) == 3, "nothing is decided yet"
    client, act = client_of(lead), str(uuid.uuid4())
    assert take(client, round, contest.unit, answer_by(round, contest.unit, two[0]), uuid=act).status_code == 201
    assert inputs(cluster) == [TEXTS[0], "From the full text.", TEXTS[2]]
    assert send(client, round, "undo/", act=act).status_code == 201
    assert inputs(cluster) == [TEXTS[0], TEXTS[1], "From the full text."]
    assert list(findings()) == []


def work(round: Round, people: list[Member], *values: Json) -> None:
    for person, value in zip(people, values, strict=True):
        while held := next_assignments(user=person.user, round=round):
            answer(person.user, held[0], value, kind=KIND)
    close_round(round=round, by=people[0].user)
    round.refresh_from_db()
    finish_round(round=round, by=people[0].user)


def test_gold_is_the_majority_by_input_and_agreement_counts_inputs(
    project: Project, clusters: list[Cluster], two: list[Member], evaluator: User
) -> None:
    three = [*two, Member.objects.get(project=project, user=evaluator)]
    round = build_round(project, three, kind=KIND, overlap=3, filters={"cluster": clusters[0].key})
    work(round, three, said(1, 2, 3), said(1, 3), said(2, 3))
    [decision] = current_decisions([clusters[0].unit_id], KIND).values()
    assert decision.origin == Origin.MAJORITY
    assert inputs(clusters[0]) == TEXTS
    [measure] = report(round)["measures"]
    assert (measure["name"], measure["all_agree"]) == ("input supports", {"count": 1, "of": 3})


def test_other_evidence_or_another_target_makes_it_stale(
    project: Project, target: Target, clusters: list[Cluster], by: Member, two: list[Member]
) -> None:
    decide(clusters[0], by, 1)
    new = supersede_target(target=target, text="Nepralin reduces attacks.", reason="Shorter.", by=by)
    assert stale_units([c.unit_id for c in clusters]) >= {(clusters[0].unit_id, KIND)}
    decide(clusters[0], by, 1, 2)
    assert (clusters[0].unit_id, KIND) not in stale_units([clusters[0].unit_id])
    assert inputs(clusters[0]) == TEXTS[:2], "those of the text in force are the same inputs"
    split(Study.objects.exclude(abstract=""))
    build_round(project, two[:1], kind="evidence")
    pair = EvidencePair.objects.select_related("unit").get(study__pmid="10000000")
    correct(unit=pair.unit, kind="evidence", value=supports(4), reason="Read again.", by=by)
    assert (clusters[0].unit_id, KIND) in stale_units([clusters[0].unit_id])
    assert list(Input.objects.current().filter(target=new).order_by("position").values_list("position", flat=True)) == [
        2,
        3,
        4,
    ]
    value = {"supporting": [{"number": n, "said": "supports"} for n in (2, 3, 4)]}
    correct(unit=Unit.objects.get(pk=clusters[0].unit_id), kind=KIND, value=value, reason="New evidence.", by=by)
    assert inputs(clusters[0]) == [TEXTS[1], TEXTS[2], "Nausea was common in both groups."]
    assert list(findings()) == []


@pytest.mark.parametrize("more", [0, 20])
def test_next_and_answer_cost_the_same_however_many_there_are(
    project: Project, target: Target, by: Member, two: list[Member], more: int, client_of: Client
) -> None:
    tuples = [tuple_of(f"outcome {n}") for n in range(6 + more)]
    correct(unit=target.unit, kind="pico", value={"tuples": tuples}, reason="", by=by)
    study = Study.objects.earliest("pk")
    for n in range(4, 4 + more):
        Input.objects.create(target=target, study=study, position=n, text=f"Text {n}.")
    round, client = build_round(project, two[:1], kind=KIND), client_of(two[0].user)
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as of_next:
            fetched = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"]
        body = body_of(fetched[0], kind=KIND, value=said(1, of=3 + more), have=[one["assignment"] for one in fetched])
        with CaptureQueriesContext(connection) as of_answer:
            assert put(client, body).status_code == 201
        walked = [q for q in of_answer.captured_queries if q["sql"].startswith('UPDATE "projects_participant"')]
        costs.append((len(of_next), len(of_answer) - len(walked)))
    assert costs[1] == (QUERIES_OF_NEXT, QUERIES_OF_ANSWER)


#: Queries of any kind, plus clusters with their tuples and target texts, and the current inputs.
QUERIES_OF_NEXT, QUERIES_OF_ANSWER = 16, 21


def test_a_correction_round_shows_current_values(
    project: Project, clusters: list[Cluster], by: Member, two: list[Member]
) -> None:
    decide(clusters[0], by, 1)
    round = build_round(project, two[:1], kind=KIND, purpose="review and correct")
    [card] = cards(round, next_assignments(user=two[0].user, round=round))
    assert card["value"] == said(1)


def test_six_clusters_need_few_queries_more_than_one(target: Target, by: Member) -> None:
    tuples = [tuple_of(f"outcome {n}") for n in range(7)]
    correct(unit=target.unit, kind="pico", value={"tuples": tuples}, reason="", by=by)
    units = [cluster.unit for cluster in Cluster.objects.select_related("unit").order_by("position")]
    costs = []
    for some in (units[:1], units[1:]):
        cells = [Correction(unit, KIND, said(1, 2)) for unit in some]
        with CaptureQueriesContext(connection) as counted:
            correct_all(cells, project=target.project, reason="", by=by)
        costs.append(len(counted))
    # Each value is checked against its inputs, and each cluster is then found by other texts.
    # Three kinds of rating pages each look for pages of a cluster.
    assert (costs[1] - costs[0]) / 5 < 16
    assert Review.objects.count() == 1


def test_the_curate_page_asks_of_clusters_whose_sentence_has_inputs(
    project: Project, target: Target, clusters: list[Cluster], by: Member, lead: User, client_of: Client
) -> None:
    client = client_of(lead)
    address = f"/api/v1/reviews/{target.review_id}/curation/"
    decide(clusters[0], by, 1, 3)
    first, second = client.get(address).json()["clusters"]
    assert [(cell["kind"], cell["unit"], cell["value"], cell["study"]) for cell in first["others"]] == [
        (KIND, clusters[0].unit_id, said(1, 3), None)
    ]
    assert [cell["value"] for cell in second["others"]] == [None]
    assert [claim["text"] for claim in first["propositions"]] == [TEXT, TEXTS[0], TEXTS[2]]
    Input.objects.update(is_current=False)
    first, second = client.get(address).json()["clusters"]
    assert [cell["value"] for cell in first["others"]] == [said(1, 3)], "what is in force is shown"
    assert second["others"] == [], "there is nothing to assign"
