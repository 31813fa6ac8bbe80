"""Evidence of a target in a study: answers, current values, and the resulting inputs."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.sentences import split
from annotation.evidence import actions as evidence_actions
from annotation.evidence.current import count_dropped
from annotation.evidence.queries import evaluation
from annotation.kinds.supersede import supersede_target
from annotation.models import (
    EvidencePair,
    Input,
    Level,
    Ranking,
    RecordStatus,
    Review,
    Sentence,
    Study,
    Support,
    Target,
)
from api.problems import Refused
from audit.actions import create_checkpoints
from audit.verify import findings
from projects import kinds
from projects import workflow as workflow_registry
from projects.agreement.queries import report
from projects.curation.actions import Correction, correct, correct_all
from projects.gold.actions import finish_round
from projects.gold.queries import current_decisions
from projects.jobs.batches import silent
from projects.models import Decision, Member, Origin, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards, of_curator
from projects.queue.serializers import CARDS
from projects.rounds import previews, rolling
from projects.rounds.actions import close_round
from projects.rounds.planning import RoundPlan
from projects.staleness.actions import stale_units
from releases.formats import m3
from releases.formats.notes import Notes
from tests.builders import answer, build_round, include
from tests.projects.adjudication import answer_by, send, take
from tests.projects.test_loop_api import body_of, put

pytestmark = pytest.mark.django_db
KIND = "evidence"
Json = dict[str, Any]
Client = Callable[[User], APIClient]
TEXTS = ("Nepralin reduces attacks of migraine.", "Nepralin causes no nausea.")
ABSTRACT = (
    "Nepralin is a drug for migraine. We randomised adults to nepralin or placebo. "
    "Nepralin reduced attacks of migraine. Nausea was common in both groups."
)


def build_review(project: Project, studies: int = 2, texts: tuple[str, ...] = TEXTS, number: int = 0) -> Review:
    """Create a review with studies with abstracts, and one without."""
    pmid = str(26_000_000 + number)
    unit = Unit.objects.create(project=project, type="review", key=pmid)
    review = Review.objects.create(project=project, pmid=pmid, unit=unit, title=f"Nepralin, review {number}")
    for n, text in enumerate(texts):
        own = Unit.objects.create(project=project, type="target sentence", key=f"{pmid}_{n}")
        Target.objects.create(
            project=project,
            review=review,
            level=Level.SENTENCE,
            key=own.key,
            position=10 * number + n,
            text=text,
            unit=own,
        )
    for n in range(studies + 1):
        study = Study.objects.create(
            project=project,
            pmid=str(10_000_000 + 100 * number + n),
            abstract=ABSTRACT if n < studies else "",
            title=f"Trial {n}",
        )
        include(review, study)
    return review


@pytest.fixture
def review(project: Project) -> Review:
    return build_review(project)


@pytest.fixture
def people(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2, evaluator)]


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def support(*numbers: int, ranked: tuple[int, ...] = ()) -> Json:
    return {"support": list(numbers), "ranked": list(ranked)}


def open_for(project: Project, people: list[Member], **plan: Any) -> Round:
    return build_round(project, people, kind=KIND, overlap=len(people), **plan)


def work(round: Round, people: list[Member], *values: list[Json]) -> Round:
    """Each person's values in the order of units; the round is closed afterwards."""
    for person, said in zip(people, values, strict=True):
        for value in said:
            answer(person.user, next_assignments(user=person.user, round=round)[0], value, kind=KIND)
    close_round(round=round, by=people[0].user)
    round.refresh_from_db()
    finish_round(round=round, by=people[0].user)
    return round


def inputs(target: Target | None = None) -> list[tuple[str, str]]:
    rows = Input.objects.current().filter(target=target or Target.objects.current().earliest("position"))
    return list(rows.order_by("position").values_list("study__pmid", "text"))


def test_a_round_asks_each_target_with_each_study_those_of_one_study_together(
    project: Project, review: Review, people: list[Member]
) -> None:
    round = open_for(project, people[:1])
    asked = [slot.unit for slot in round.assignments.select_related("unit").order_by("position")]
    assert [unit.key for unit in asked] == [
        "26000000_0 10000000",
        "26000000_1 10000000",
        "26000000_0 10000001",
        "26000000_1 10000001",
    ]
    assert len({unit.context for unit in asked}) == 2
    assert Sentence.objects.count() == 8, "abstracts from before are split first"
    held = next_assignments(user=people[0].user, round=round)
    first = cards(round, held)[0]
    assert (first["target"], first["review_title"]) == (TEXTS[0], "Nepralin, review 0")
    assert (first["pmid"], first["title"]) == ("10000000", "Trial 0")
    assert [one["number"] for one in first["sentences"]] == [1, 2, 3, 4]
    assert first["ranks"] == [], "nobody has ranked them"
    kind = kinds.get(KIND)
    assert kind.texts([asked[1].pk]) == {asked[1].pk: TEXTS[1]}
    assert kind.reviews([asked[1].pk]) == {asked[1].pk: "26000000"}
    again = open_for(project, people[:1], name="again", order="shuffled")
    assert EvidencePair.objects.count() == 4, "another round asks of the same pairs"
    assert {slot.unit_id for slot in again.assignments.all()} == {unit.pk for unit in asked}


def test_a_plan_says_how_many_pairs_there_are_and_shows_one(
    project: Project, review: Review, people: list[Member]
) -> None:
    plan = RoundPlan(people=[people[0].pk], name="r", kind=KIND, purpose="gold", overlap=1)
    [card] = previews.preview(project, plan, 0)
    assert (card["target"], len(card["sentences"])) == (TEXTS[0], 4)
    assert previews.totals(project, plan)["answers"] == 4
    assert previews.totals(project, replace(plan, sample=1))["answers"] == 2
    Study.objects.filter(pmid="10000000").update(abstract="")
    assert previews.totals(project, plan)["answers"] == 2
    assert EvidencePair.objects.count() == 0, "nothing is stored for it"
    Study.objects.update(abstract="")
    with pytest.raises(Refused, match="has an abstract"):
        open_for(project, people[:1])


def test_ranks_are_those_of_the_newest_ranking_of_one_by_its_name_or_hidden(
    project: Project, review: Review, people: list[Member]
) -> None:
    split(Study.objects.exclude(abstract=""))
    evidence_actions.rank(project=project, ranker="words", model="")
    order = Ranking.objects.get(target__key="26000000_0", study__pmid="10000000").order
    other = Ranking.objects.get(target__key="26000000_0", study__pmid="10000000")
    Ranking.objects.create(
        target=other.target, study=other.study, ranker="another", texts="", order=[2, 1, 3, 4], similarities=[]
    )
    [ranks] = kinds.get(KIND).options_of(project)
    assert ranks.choices == ("newest", "hidden", "another", "words: BM25, 1")
    shown = {}
    for which in ranks.choices:
        round = open_for(project, people[:1], name=which, options={"evidence_ranks": which})
        shown[which] = cards(round, next_assignments(user=people[0].user, round=round))[0]["ranks"]
    assert order[0] == 3
    assert shown == {"newest": [2, 1, 3], "hidden": None, "another": [2, 1, 3], "words: BM25, 1": order[:3]}
    with pytest.raises(Refused):
        open_for(project, people[:1], name="x", options={"evidence_ranks": "tea leaves"})
    Ranking.objects.filter(ranker="another").update(order=[2, 1])
    round = Round.objects.get(name="another")
    assert cards(round, next_assignments(user=people[0].user, round=round))[0]["ranks"] == [], "of another abstract"


def test_one_or_two_sentences_of_this_abstract_are_marked_or_none(
    project: Project, review: Review, people: list[Member]
) -> None:
    round = open_for(project, people[:1])
    slot = next_assignments(user=people[0].user, round=round)[0]
    for value in (support(5), support(3, ranked=(3, 9))):
        with pytest.raises(Refused, match="no sentence"):
            answer(people[0].user, slot, value, kind=KIND)
    serializer = kinds.get(KIND).value_serializer
    for wrong in ({}, {"support": [1, 2, 3]}, {"support": [1, 1]}, {"support": [0]}, {"support": None}):
        assert not serializer(data=wrong).is_valid(), wrong
    found = serializer(data={"support": [4, 3]})
    assert found.is_valid()
    assert found.validated_data == {"support": [3, 4], "ranked": []}
    answer(people[0].user, slot, support(3, 4, ranked=(3, 1, 2)), kind=KIND)
    [stored] = Support.objects.all()
    assert kinds.get(KIND).values([stored.answer_id]) == {stored.answer_id: support(3, 4, ranked=(3, 1, 2))}
    kind = kinds.get(KIND)
    assert kind.rows(support(3, 4, ranked=(3, 1, 2))) == [
        {"supported": "supported", "sentences": "3; 4", "ranked": "3, 1, 2"}
    ]
    assert kind.rows(support())[0]["supported"] == "no support"
    assert [kind.in_words(said)["support"] for said in (support(), support(3), support(3, 4))] == [
        "no support",
        "sentence 3",
        "sentences 3 and 4",
    ]


def test_current_evidence_creates_inputs_as_in_m3(project: Project, review: Review, people: list[Member]) -> None:
    """Adjacent sentences form one text as in the abstract, separate ones two; no sentence forms none."""
    said = [support(3, 4), support(), support(1, 3), support()]
    work(open_for(project, people[:1]), people[:1], said)
    assert inputs() == [
        ("10000000", "Nepralin reduced attacks of migraine. Nausea was common in both groups."),
        ("10000001", "Nepralin is a drug for migraine."),
        ("10000001", "Nepralin reduced attacks of migraine."),
    ]
    assert [row.numbers for row in Input.objects.order_by("position")] == [[3, 4], [1], [3]]
    notes = Notes()
    files = {path: list(lines) for path, lines in m3.files(project, notes)}
    assert list(files) == ["m3/level2.jsonl"]
    [line] = files["m3/level2.jsonl"]
    assert line.count(b"source_pmid") == 3
    assert notes.counts["targets_without_inputs"] == ["26000000_1"]
    evidence_actions.rank(project=project, ranker="words", model="")
    found = evaluation(project)
    assert (found["mapped"], found["not_found"]) == (2, 0)
    assert found["rankings"][0]["report"]["top_1"]["value"] == 1.0
    create_checkpoints()
    assert list(findings()) == []


def test_a_heading_between_two_sentences_makes_them_two_texts(project: Project, people: list[Member]) -> None:
    review = build_review(project, studies=0, texts=TEXTS[:1])
    abstract = "RESULTS: Attacks fell. CONCLUSION: Nepralin reduces attacks."
    at = abstract.index("CONCLUSION")
    study = Study.objects.create(
        project=project,
        pmid="1",
        abstract=abstract,
        sections=[
            {"label": "RESULTS", "category": "RESULTS", "start": 9, "end": at - 1},
            {"label": "CONCLUSION", "category": "CONCLUSIONS", "start": at + 12, "end": len(abstract)},
        ],
    )
    include(review, study)
    work(open_for(project, people[:1]), people[:1], [support(1, 2)])
    assert [text for _, text in inputs()] == ["Attacks fell.", "Nepralin reduces attacks."]


def test_gold_is_what_most_marked_and_agreement_counts_sentences(
    project: Project, people: list[Member], lead: User
) -> None:
    """In the first pair no two answers are equal, but each sentence has a majority, and one answer equals it."""
    build_review(project, studies=1)
    first = [support(3), support(3, 4), support(4, 2)]
    round = work(open_for(project, people), people, *([one, support()] for one in (support(3, 4), first[0], first[2])))
    [decision, none] = sorted(Decision.objects.filter(kind=KIND), key=lambda d: d.unit.key)
    assert (decision.origin, none.origin) == (Origin.MAJORITY, Origin.UNANIMOUS)
    assert inputs() == [("10000000", "Nepralin reduced attacks of migraine. Nausea was common in both groups.")]
    figures = report(round)
    by_name = {m["name"]: m for m in figures["measures"]}
    assert by_name["supported or not"]["all_agree"] == {"count": 2, "of": 2}
    spans = {(one["name"], one["method"]): one for one in figures["spans"]}
    f1 = spans["marked sentences", "mean pairwise F1 of sets"]
    # {3, 4} and {3}: 2/3; {3, 4} and {2, 4}: 1/2; {3} and {2, 4}: 0. Pairs in which nobody marked anything are not
    # compared.
    assert f1["value"] == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert (f1["units"], f1["both_empty"]) == (1, 3)
    kind = kinds.get(KIND)
    assert [kind.distance("support", support(3, 4), other) for other in (support(3, 4), support(3), support())] == [
        0.0,
        pytest.approx(1 / 3),
        1.0,
    ]
    assert kind.distance("support", support(), support()) == 0.0
    for policy, right in (("overlap", True), ("same", False)):
        round.policy = {"evidence_matches": policy}
        assert kind.is_correct("support", support(3, 4), support(3), round) is right
        assert kind.is_correct("support", support(), support(), round) is True
        assert kind.is_correct("support", support(), support(3), round) is False


def test_disagreements_wait_for_a_curator_whose_decision_can_be_undone(
    project: Project, people: list[Member], lead: User, client_of: Client
) -> None:
    build_review(project, studies=1, texts=TEXTS[:1])
    round = work(open_for(project, people[:2]), people[:2], [support(3)], [support()])
    [contest] = Decision.objects.filter(kind=KIND).contested()
    assert inputs() == []
    client, act = client_of(lead), str(uuid.uuid4())
    unit = contest.unit
    assert take(client, round, unit, answer_by(round, unit, people[0]), uuid=act).status_code == 201
    assert inputs() == [("10000000", "Nepralin reduced attacks of migraine.")]
    assert send(client, round, "undo/", act=act).status_code == 201
    assert inputs() == []
    assert list(findings()) == []


def test_decisions_replace_imported_values_until_undone(
    project: Project, people: list[Member], lead: User, client_of: Client
) -> None:
    review = build_review(project, studies=1, texts=TEXTS[:1])
    target, study = review.targets.get(), review.studies().exclude(abstract="").get()
    for n, text in enumerate(("Nepralin is a  drug for migraine.", "From the full text."), start=1):
        Input.objects.create(target=target, study=study, position=n, text=text)
    round = work(open_for(project, people[:2]), people[:2], [support(1)], [support(3)])
    assert len(inputs()) == 2
    client, act = client_of(lead), str(uuid.uuid4())
    unit = EvidencePair.objects.get().unit
    assert take(client, round, unit, answer_by(round, unit, people[0]), uuid=act).status_code == 201
    assert inputs() == [("10000000", "Nepralin is a  drug for migraine.")], "the same words are the same input"
    assert send(client, round, "undo/", act=act).status_code == 201
    assert len(inputs()) == 2
    assert Input.objects.count() == 2
    create_checkpoints()
    Input.objects.filter(position=1).update(is_current=False)
    assert list(findings()) == [], "what counts may change, what it says may not"


def test_changed_evidence_decisions_remove_and_restore_inputs(
    project: Project, review: Review, people: list[Member], by: Member
) -> None:
    work(open_for(project, people[:1]), people[:1], [support(3), support(), support(), support()])
    unit = Unit.objects.get(key="26000000_0 10000000")
    [made] = Input.objects.all()
    correct(unit=unit, kind=KIND, value=support(4), reason="Read again.", by=by)
    assert inputs() == [("10000000", "Nausea was common in both groups.")]
    correct(unit=unit, kind=KIND, value=support(3), reason="Read again.", by=by)
    assert Input.objects.current().get() == made
    correct(unit=unit, kind=KIND, value=support(), reason="Read again.", by=by)
    assert inputs() == []
    assert list(findings()) == []


def test_a_target_that_no_study_supports_is_dropped_and_counted_on_the_way(
    project: Project, people: list[Member], lead: User
) -> None:
    build_review(project)
    Review.objects.update(record=RecordStatus.READ)

    def step() -> Json:
        return next(one for one in workflow_registry.of(project)["steps"] if one["key"] == "evidence")

    before = step()
    assert (before["count"], before["state"]) == (0, "to do")
    assert before["next"]["page"] == "rounds/new?rolling=true&kind=evidence"
    round = open_for(project, people[:1])
    assert step()["next"] is None
    work(round, people[:1], [support(3), support(), support(), support()])
    assert count_dropped(project) == 1
    after = step()
    assert (after["count"], after["of"], after["state"]) == (
        1,
        "of 2 targets have inputs, 1 dropped without support",
        "done",
    )
    kind = kinds.get("pico")
    [only] = [one for one in kind.filters if one.parameter.name == "supported"]
    assert only.narrow(kind.units(project), True).count() == 1
    build_review(project, number=1)
    [fresh] = [one for one in kinds.get(KIND).filters if one.parameter.name == "no_evidence_yet"]
    assert {unit.key for unit in fresh.narrow(kind.units(project), True)} == {"26000001_0", "26000001_1"}


def test_a_corrected_target_keeps_its_evidence_pairs_with_stale_values(
    project: Project, people: list[Member], by: Member
) -> None:
    review = build_review(project, studies=1, texts=TEXTS[:1])
    round = work(open_for(project, people[:1]), people[:1], [support(3)])
    unit = EvidencePair.objects.get().unit
    for text in ("Nepralin reduces attacks.", "Nepralin halves attacks."):
        supersede_target(target=review.targets.current().select_related("unit").get(), text=text, reason="Typo.", by=by)
        assert stale_units([unit.pk]) == {(unit.pk, KIND)}
        assert inputs() == [("10000000", "Nepralin reduced attacks of migraine.")], "it goes with the text"
        assert kinds.get(KIND).texts([unit.pk]) == {unit.pk: text}
        unit.refresh_from_db()
        assert of_curator(unit, KIND, by)["target"] == text
        correct(unit=unit, kind=KIND, value=support(4), reason="For the new text.", by=by)
        assert inputs() == [("10000000", "Nausea was common in both groups.")]
        correct(unit=unit, kind=KIND, value=support(3), reason="For the new text.", by=by)
    open_for(project, people[:1], name="again")
    assert EvidencePair.objects.count() == 1
    assert current_decisions([unit.pk], KIND)[unit.pk, "support"].origin == Origin.CURATED
    assert round.assignments.count() == 1
    assert list(findings()) == []


def test_practice_uses_settled_values_and_correction_shows_current_ones(
    project: Project, people: list[Member], by: Member
) -> None:
    build_review(project, studies=1, texts=TEXTS[:1])
    work(open_for(project, people[:1]), people[:1], [support(3)])
    unit = EvidencePair.objects.get().unit
    correct(unit=unit, kind=KIND, value=support(4), reason="Read again.", by=by)
    for purpose, shown in (("review and correct", [4]), ("practice", None)):
        round = build_round(
            project, people[1:2], kind=KIND, purpose=purpose, name=purpose, filters={"review": "26000000"}
        )
        [card] = cards(round, next_assignments(user=people[1].user, round=round))
        assert (card["value"] and card["value"]["support"]) == shown


#: Queries of any kind, plus pairs with targets and studies, sentences and ranks.
QUERIES_OF_NEXT, QUERIES_OF_ANSWER = 13, 16


@pytest.mark.parametrize("studies", [2, 30])
def test_next_and_answer_cost_the_same_however_many_there_are(
    project: Project, people: list[Member], studies: int, client_of: Client
) -> None:
    build_review(project, studies=studies)
    split(Study.objects.exclude(abstract=""))
    evidence_actions.rank(project=project, ranker="words", model="")
    round, client = open_for(project, people[:1]), client_of(people[0].user)
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as of_next:
            cards = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"]
        card = CARDS[KIND](data=cards[0])
        assert card.is_valid(), card.errors
        assert len(cards[0]["ranks"]) == 3
        value = support(3, ranked=tuple(cards[0]["ranks"]))
        body = body_of(cards[0], kind=KIND, value=value, have=[one["assignment"] for one in cards])
        with CaptureQueriesContext(connection) as of_answer:
            assert put(client, body).status_code == 201
        walked = [q for q in of_answer.captured_queries if q["sql"].startswith('UPDATE "projects_participant"')]
        costs.append((len(of_next), len(of_answer) - len(walked)))
    assert costs[1] == (QUERIES_OF_NEXT, QUERIES_OF_ANSWER)


def test_six_pairs_need_no_more_queries_to_be_followed_than_one(project: Project, people: list[Member]) -> None:
    build_review(project, studies=4)
    open_for(project, people[:1])
    by, units = people[2], list(Unit.objects.filter(type="target and study"))
    costs = []
    for some in (units[:1], units[1:7]):
        cells = [Correction(unit, KIND, support(3)) for unit in some]
        with CaptureQueriesContext(connection) as counted:
            correct_all(cells, project=project, reason="", by=by)
        costs.append(len(counted))
    # Each value is checked against its abstract.
    assert costs[1] - costs[0] <= 5
    assert Input.objects.current().count() == 7


def test_a_rolling_round_takes_in_targets_and_studies_that_come_later(project: Project, people: list[Member]) -> None:
    round = open_for(project, people[:1], rolling=True)
    assert round.units_count == 0
    review = build_review(project)
    assert rolling.add_matching_units(round=round, by=None, progress=silent)["units"] == 4
    study = review.studies().filter(abstract="").get()
    study.abstract = ABSTRACT
    study.save(update_fields=["abstract"])
    assert rolling.add_matching_units(round=round, by=None, progress=silent)["units"] == 2
    newest = round.assignments.order_by("-position")[:2].values_list("unit__evidence_pair__study", flat=True)
    assert set(newest) == {study.pk}


def test_the_curate_page_has_a_cell_for_each_study_that_a_target_was_asked_with(
    project: Project, review: Review, people: list[Member], lead: User, client_of: Client
) -> None:
    client = client_of(lead)
    address = f"/api/v1/reviews/{review.pk}/curation/"
    first, _ = client.get(address).json()["targets"]
    assert [cell["study"] for cell in first["others"]] == [None], "asked with none yet"
    work(open_for(project, people[:1]), people[:1], [support(3), support(), support(4), support()])
    first, second = client.get(address).json()["targets"]
    cells = [cell for cell in first["others"] if cell["study"]]
    assert [(cell["kind"], cell["study"]["pmid"], cell["value"]["support"]) for cell in cells] == [
        (KIND, "10000000", [3]),
        (KIND, "10000001", [4]),
    ]
    assert [cell["value"]["support"] for cell in second["others"] if cell["study"]] == [[], []]
    assert len(inputs()) == 2
    [cell, _] = cells
    card = client.get(f"/api/v1/units/{cell['unit']}/cards/{KIND}/").json()
    assert (card["target"], card["pmid"], len(card["sentences"])) == (TEXTS[0], "10000000", 4)
    said = {"kind": KIND, "value": support(), "shown": cell["shown"], "seen": cell["seen"]}
    corrections = f"/api/v1/units/{cell['unit']}/corrections/"
    wanted = client.post(corrections, said | {"reason": ""}, format="json")
    assert (wanted.status_code, wanted.json()["errors"][0]["field"]) == (422, "reason")
    done = client.post(corrections, said | {"reason": "Other patients."}, format="json")
    assert done.status_code == 201, done.content
    first, _ = client.get(address).json()["targets"]
    assert [cell["value"]["support"] for cell in first["others"] if cell["study"]] == [[], [4]]
    assert [one["study"]["pmid"] for one in first["inputs"]] == ["10000001"], "the input is put aside"
    again = client.post(corrections, said | {"reason": "Mine."}, format="json")
    assert again.status_code == 409, "it has changed since it was shown"


def test_the_curate_page_costs_the_same_with_few_and_many_studies(
    project: Project, people: list[Member], lead: User, client_of: Client
) -> None:
    client = client_of(lead)

    def cost(review: Review) -> int:
        with CaptureQueriesContext(connection) as counted:
            assert client.get(f"/api/v1/reviews/{review.pk}/curation/").status_code == 200
        return len(counted)

    few, many = (build_review(project, studies, number=n) for n, studies in enumerate((1, 12)))
    open_for(project, people[:1])
    assert cost(many) == cost(few)
