"""Matching: four sentences of an abstract, of which one is the target's evidence; nothing reveals which."""

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.creation import UNIT_TYPES
from annotation.clusters.sentences import split
from annotation.evidence import actions as evidence_actions
from annotation.kinds.match.matching import Refusal, find_matchable, rankers
from annotation.models import Input, Level, Match, MatchCandidate, MatchItem, Ranking, Review, Sentence, Study, Target
from annotation.rankers.protocol import BY_WORDS
from api.problems import Refused
from audit.actions import create_checkpoints
from audit.verify import findings
from projects import kinds
from projects.agreement.queries import gold_of, report
from projects.gold.actions import finish_round
from projects.models import Answer, Assignment, Decision, Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds import previews
from projects.rounds.actions import close_round
from projects.rounds.planning import RoundPlan
from releases.publishing.actions import write_release
from tests.builders import answer, build_cluster, build_round, include
from tests.config.routes import api_routes

pytestmark = pytest.mark.django_db
KIND = "match"
TARGET = "Nepralin reduces attacks of migraine in adults."
GOLD = "Fewer attacks of migraine occurred with nepralin."
SENTENCES = (
    "Nepralin is a drug for migraine in adults.",
    "We randomised adults with migraine to nepralin or placebo.",
    GOLD,
    "Nausea was common.",
    "Nepralin was well tolerated by most adults.",
    "The trial was registered.",
)


def build_target(
    project: Project,
    number: int = 0,
    sentences: Sequence[str] = SENTENCES,
    evidence: Sequence[str] = (GOLD,),
    text: str = TARGET,
) -> Target:
    """Create a target sentence under its own review, with the abstract of a study and its selected sentences."""
    unit = Unit.objects.create(project=project, type="review", key=str(26_000_000 + number))
    review = Review.objects.create(project=project, pmid=unit.key, unit=unit, title=f"Review {number}")
    own = Unit.objects.create(project=project, type=UNIT_TYPES[Level.SENTENCE], key=f"{unit.key}_0")
    target = Target.objects.create(
        project=project, review=review, level=Level.SENTENCE, key=own.key, position=number, text=text, unit=own
    )
    study = Study.objects.create(project=project, pmid=str(10_000_000 + number), abstract=" ".join(sentences))
    include(review, study)
    split([study])
    for n, one in enumerate(evidence):
        Input.objects.create(target=target, study=study, position=n, text=one)
    return target


def people_of(project: Project, *users: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in users]


def build_matches(project: Project, people: list[Member], **plan: Any) -> Round:
    return build_round(project, people, **{"kind": KIND, "purpose": "measure only", "name": "matches"} | plan)


def candidates_of(round: Round) -> dict[int, list[str]]:
    """Return the candidates by number for each unit."""
    found: dict[int, list[str]] = {}
    rows = MatchCandidate.objects.filter(item__round=round).order_by("item__number", "position")
    for unit, text in rows.values_list("item__unit", "sentence__text"):
        found.setdefault(unit, []).append(text)
    return found


def test_an_item_has_the_gold_sentence_and_the_three_nearest_that_are_evidence_nowhere(
    project: Project, ann1: User
) -> None:
    target = build_target(project)
    round = build_matches(project, people_of(project, ann1))
    [item] = MatchItem.objects.all()
    four = {c.sentence.text: c for c in item.candidates.select_related("sentence")}
    # By shared words the registration and the nausea sentence are most distant.
    assert set(four) == {SENTENCES[0], SENTENCES[1], GOLD, SENTENCES[4]}
    assert {text for text, c in four.items() if c.is_gold} == {GOLD}
    assert (item.target, item.nearest_by, round.units_count) == (target, BY_WORDS, 1)
    assert sorted(c.rank for c in four.values()) == [1, 2, 3, 4]


def test_evidence_of_other_targets_is_no_candidate(project: Project, ann1: User) -> None:
    """Used in another study's input, or in an input of a cluster with the same target text."""
    target = build_target(project, evidence=(GOLD, SENTENCES[0]))
    build_matches(project, people_of(project, ann1), name="one")
    [texts] = [set(t) for t in candidates_of(Round.objects.get(name="one")).values()]
    golds = {c.sentence.text for c in MatchCandidate.objects.filter(is_gold=True)}
    assert len(golds) == 1
    assert len(texts & {GOLD, SENTENCES[0]}) == 1, "of two gold sentences one is asked, and the other is no candidate"
    cluster = build_cluster(project, inputs=1, text=TARGET)
    cluster.propositions.filter(position=1).update(text=SENTENCES[4])
    type(cluster).objects.filter(pk=cluster.pk).update(review=target.review)
    build_matches(project, people_of(project, ann1), name="two")
    [texts] = [set(t) for t in candidates_of(Round.objects.get(name="two")).values()]
    assert SENTENCES[4] not in texts
    assert texts - golds - {GOLD, SENTENCES[0]} == {SENTENCES[1], SENTENCES[3], SENTENCES[5]}


def test_the_order_depends_on_the_seed_and_reveals_nothing(project: Project, ann1: User) -> None:
    for number in range(40):
        build_target(project, number)
    people = people_of(project, ann1)
    same = [candidates_of(build_matches(project, people, name=f"round {n}", seed=7)) for n in range(2)]
    assert list(same[0].values()) == list(same[1].values())
    other = candidates_of(build_matches(project, people, name="another", seed=8))
    assert list(other.values()) != list(same[0].values())
    places = list(
        MatchCandidate.objects.filter(item__round__name="round 0", is_gold=True).values_list("position", flat=True)
    )
    assert {places.count(n) for n in (1, 2, 3, 4)} <= set(range(4, 18)), "about ten each"


def test_shown_texts_differ_in_their_words_only(project: Project, ann1: User) -> None:
    for number in range(3):
        build_target(project, number)
    round = build_matches(project, people_of(project, ann1), held_limit=3)
    for card in cards(round, next_assignments(user=ann1, round=round)):
        assert card["unit"]["key"] == ""
        assert card["target"] == TARGET
        texts = candidates_of(round)[card["unit"]["id"]]
        assert {one["number"]: one["text"] for one in card["candidates"]} == dict(enumerate(texts, start=1))
        assert all(set(one) == {"number", "text"} for one in card["candidates"])
        assert set(card) == {
            "kind",
            "assignment",
            "revision",
            "shown",
            "position",
            "unit",
            "answered_at",
            "outcome",
            "comment",
            "flag",
            "references",
            "value",
            "target",
            "candidates",
        }


def test_people_have_the_candidates_in_orders_of_their_own_that_the_seed_says(
    project: Project, ann1: User, ann2: User
) -> None:
    """Each person sees the candidates in another order, so that a habit of pressing one key creates no agreement.
    The stored value is the number of the sentence."""
    for number in range(12):
        build_target(project, number)
    users = (ann1, ann2)
    round = build_matches(project, people_of(project, *users), overlap=2, held_limit=12, seed=7)
    orders: dict[int, list[list[int]]] = {}
    for user in users:
        held = next_assignments(user=user, round=round)
        for slot, card in zip(held, cards(round, held), strict=True):
            orders.setdefault(slot.unit_id, []).append([one["number"] for one in card["candidates"]])
        assert cards(round, held) == cards(round, next_assignments(user=user, round=round)), "whenever it is seen"
        # The first on the page, whichever it is.
        [first, *_] = cards(round, held)
        answer(user, held[0], {"most_relevant": first["candidates"][0]["number"]}, kind=KIND)
    assert len(orders) == 12
    for mine in orders.values():
        assert all(len({order[place] for order in mine}) == 2 for place in range(4))
    firsts = [order[0] for mine in orders.values() for order in mine]
    assert all(firsts.count(number) > 1 for number in (1, 2, 3, 4)), "no number has the first place"
    assert len(set(Match.objects.values_list("most_relevant", flat=True))) == 2, "one key of two people, two candidates"
    again = build_matches(project, people_of(project, *users), overlap=2, held_limit=12, seed=8, name="another")
    held = next_assignments(user=ann1, round=again)
    assert [[one["number"] for one in card["candidates"]] for card in cards(again, held)] != [
        mine[0] for mine in orders.values()
    ]


def every_reply(client: APIClient, round: Round) -> list[str]:
    """Return everything that a person can read from the API about the project or round."""
    ids: dict[str, Any] = {
        "slug": round.project.slug,
        "round_id": round.pk,
        "guideline_id": round.guideline_id,
        "table": "m3-9",
        "form": "csv",
        "kind": KIND,
        "unit_id": Assignment.objects.filter(round=round).earliest("pk").unit_id,
        "answer_uuid": Answer.objects.latest("received_at").pk if Answer.objects.exists() else "",
    }
    said = []
    for route in api_routes():
        mine = {name: value for name, value in ids.items() if f":{name}>" in route.pattern}
        if route.pattern == "schema/":
            continue  # options in general, not of any round
        if "get" in route.methods and route.pattern.count("<") == len(mine) and "" not in mine.values():
            reply = client.get(route.address(mine))
            said.append(reply.content.decode() if hasattr(reply, "content") else b"".join(reply).decode())
    return said


def test_no_reply_to_a_rater_reveals_the_gold_sentence(
    project: Project, ann1: User, ann2: User, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    """Before, during and after the answers, in the open and in the closed round: no reply has a seed, ranker, PMID
    or mark, and none shows only some of the four sentences."""
    fours = []
    for number in range(2):
        mine = [f"{sentence[:-1]} in trial {number}." for sentence in SENTENCES]
        build_target(project, number, sentences=mine, evidence=[mine[2]])
        fours.append(mine)
    round = build_matches(project, people_of(project, ann1, ann2), overlap=2, seed=4711)
    client = client_of(ann1)
    said = every_reply(client, round)
    for place in (1, 2):
        [slot, *_] = next_assignments(user=ann1, round=round)
        answer(ann1, slot, {"most_relevant": place}, kind=KIND)
        said += every_reply(client, round)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    said += every_reply(client, round)
    shown = [text for text in said if any(sentence in text for four in fours for sentence in four)]
    assert shown, "cards were read"
    for text in shown:
        for four in candidates_of(round).values():
            assert len({text.count(sentence) for sentence in four}) == 1
    whole = "\n".join(said)
    assert "4711" not in whole
    assert not re.search(r"is_gold|nearest_by|BM25|\"rank\"|1000000\d|2600000\d|match-\d", whole)


def test_a_target_without_four_valid_candidates_is_refused(project: Project, ann1: User) -> None:
    fine = build_target(project, 0)
    short = build_target(project, 1, sentences=SENTENCES[1:4])
    bare = build_target(project, 2, evidence=())
    elsewhere = build_target(project, 3, evidence=("The sentence stands in no abstract at all.",))
    unread = build_target(project, 4, sentences=())
    all_gold = build_target(project, 5, evidence=SENTENCES[:4])
    found = find_matchable(project, BY_WORDS)
    assert found.honest == [fine.pk]
    assert found.refused == {
        short.pk: Refusal.TOO_FEW,
        bare.pk: Refusal.NO_EVIDENCE,
        elsewhere.pk: Refusal.NOT_FOUND,
        unread.pk: Refusal.NO_ABSTRACT,
        all_gold.pk: Refusal.TOO_FEW,
    }
    assert build_matches(project, people_of(project, ann1)).units_count == 1
    Input.objects.filter(target=fine).delete()
    with pytest.raises(Refused, match=r"No target sentence has four candidates .*1: no study has an abstract"):
        build_matches(project, people_of(project, ann1), name="none")


def test_level_three_alone_has_no_item(project: Project, ann1: User) -> None:
    build_cluster(project)
    with pytest.raises(Refused, match="No unit matches"):
        build_matches(project, people_of(project, ann1))


def test_an_encoders_ranks_decide_which_are_nearest_where_there_are_some(project: Project, ann1: User) -> None:
    targets = [build_target(project, number) for number in range(3)]
    evidence_actions.rank(project=project, ranker="words", model="")
    assert rankers(project) == [BY_WORDS]
    for n, row in enumerate(Ranking.objects.filter(target__in=targets[:2]).order_by("target")):
        row.pk, row.ranker, row.order = None, "minilm 1", [6, 4, 3, 2, 1, 5]
        # The second ranking used other texts.
        row.texts = row.texts if n == 0 else "0" * 64
        row.save()
    assert rankers(project) == ["minilm 1", BY_WORDS]
    round = build_matches(project, people_of(project, ann1))
    [item] = MatchItem.objects.filter(round=round)
    assert (item.target, item.nearest_by) == (targets[0], "minilm 1")
    by_rank = list(item.candidates.order_by("rank").values_list("sentence__number", "is_gold"))
    assert by_rank == [(6, False), (4, False), (3, True), (2, False)]
    found = find_matchable(project, "minilm 1")
    assert [found.refused.get(t.pk) for t in targets] == [None, Refusal.NOT_RANKED, Refusal.NOT_RANKED]


def test_raters_are_compared_with_each_other_and_with_the_gold_sentence(
    project: Project, ann1: User, ann2: User, lead: User
) -> None:
    for number in range(4):
        build_target(project, number)
    round = build_matches(project, people_of(project, ann1, ann2), overlap=2, held_limit=4)
    gold = dict(MatchCandidate.objects.filter(item__round=round, is_gold=True).values_list("item__unit", "position"))
    for user in (ann1, ann2):
        for n, slot in enumerate(next_assignments(user=user, round=round)):
            right = gold[slot.unit_id]
            answer(user, slot, {"most_relevant": right if user == ann1 or n else right % 4 + 1}, kind=KIND)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    assert not Decision.objects.filter(kind=KIND).exists(), "it never touches gold"
    [measure] = report(round)["measures"]
    assert measure["all_agree"] == {"count": 3, "of": 4}
    assert sorted(one["accuracy"] for one in measure["gold"]) == [0.75, 1.0]
    assert set(gold_of(round)["most_relevant"].values()) == {str(place) for place in gold.values()}
    assert len(kinds.get(KIND).reviews(gold)) == 4


def test_a_plan_shows_an_item_as_people_would_see_it_and_stores_nothing(project: Project, ann1: User) -> None:
    build_target(project)
    plan = RoundPlan(
        people=[people_of(project, ann1)[0].pk], name="matches", kind=KIND, purpose="measure only", overlap=1, seed=3
    )
    [card] = previews.preview(project, plan, 0)
    assert previews.totals(project, plan)["units"] == 1
    assert not MatchItem.objects.exists()
    round = build_matches(project, people_of(project, ann1), seed=3)
    [asked] = cards(round, next_assignments(user=ann1, round=round))
    assert (card["target"], card["candidates"]) == (asked["target"], asked["candidates"]), "as the first place has them"


def test_a_round_that_never_opened_leaves_no_items(project: Project, ann1: User) -> None:
    build_target(project)
    round = build_matches(project, people_of(project, ann1))
    kind = kinds.get(KIND)
    chosen = list(kind.units(project).values_list("pk", "context"))
    assert kind.create_items(round, chosen) == [(item.unit_id, item.unit.context) for item in MatchItem.objects.all()]
    kind.discarded(round)
    assert not MatchItem.objects.exists()
    assert not MatchCandidate.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_closed_round_is_released_with_its_gold_and_its_rows_have_digests(
    project: Project, ann1: User, ann2: User, lead: User, tmp_path: Path
) -> None:
    for number in range(3):
        build_target(project, number)
    round = build_matches(project, people_of(project, ann1, ann2), overlap=2, held_limit=3)
    for user in (ann1, ann2):
        for n, slot in enumerate(next_assignments(user=user, round=round)):
            answer(user, slot, {"most_relevant": n + 1}, kind=KIND)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    write_release(project=project, version="1.0.0", out=tmp_path / "r")
    said = list(csv.DictReader((tmp_path / "r" / "answers" / "match.csv").open(encoding="utf-8")))
    assert [row["most_relevant"] for row in said] == ["1", "1", "2", "2", "3", "3"]
    gold = list(csv.DictReader((tmp_path / "r" / "agreement" / "gold.csv").open(encoding="utf-8")))
    assert {row["unit"]: row["value"] for row in gold} == gold_of(round)["most_relevant"]
    create_checkpoints()
    assert [str(finding) for finding in findings()] == []
    MatchItem.objects.update(nearest_by="another ranker")
    assert any("matchitem" in str(finding) for finding in findings()), "what is altered past the application is found"


@pytest.mark.parametrize("purpose", ["gold", "practice", "review and correct"])
def test_only_a_round_that_measures_asks_for_matches(project: Project, ann1: User, purpose: str) -> None:
    build_target(project)
    with pytest.raises(Refused):
        build_matches(project, people_of(project, ann1), purpose=purpose)
    assert not MatchItem.objects.exists()


def test_a_match_value_is_one_of_four_candidates(
    project: Project, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    build_target(project)
    round = build_matches(project, people_of(project, ann1))
    shape = kinds.get(KIND).value_serializer
    assert shape(data={"most_relevant": 4}).is_valid()
    for wrong in (0, 5, "gold", None):
        assert not shape(data={"most_relevant": wrong}).is_valid()
    [slot] = next_assignments(user=ann1, round=round)
    answer(ann1, slot, {"most_relevant": 2}, kind=KIND)
    assert Match.objects.get().most_relevant == 2


def test_assigning_and_answering_take_the_same_queries_with_few_and_many(
    project: Project, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    def cost(round: Round) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as of_next:
            held = next_assignments(user=ann1, round=round)
            cards(round, held)
        with CaptureQueriesContext(connection) as of_answer:
            answer(ann1, held[0], {"most_relevant": 1}, kind=KIND)
        return len(of_next), len(of_answer)

    for number in range(3):
        build_target(project, number)
    few = build_matches(project, people_of(project, ann1), name="few")
    next_assignments(user=ann1, round=few)
    first = cost(few)
    for number in range(3, 60):
        build_target(project, number)
    many = build_matches(project, people_of(project, ann1), name="many")
    next_assignments(user=ann1, round=many)
    assert cost(many) == first
    slots = list(Assignment.objects.filter(round=many, current_answer=None).select_related("unit")[:20])
    with CaptureQueriesContext(connection) as of_cards:
        cards(many, slots)
    assert len(of_cards) == 2


def test_making_items_costs_the_same_with_few_and_many(project: Project) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as counted:
            find_matchable(project, BY_WORDS)
        return len(counted)

    build_target(project, 0)
    few = cost()
    for number in range(1, 12):
        build_target(project, number)
    assert cost() == few
    assert Sentence.objects.filter(study__isnull=False).count() == 12 * len(SENTENCES)
