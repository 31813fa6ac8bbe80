"""Sentences of abstracts: split once, classified in two ways, aggregated."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from annotation.clusters.articles import Articles
from annotation.clusters.sentences import MOST, pieces, split, unsplit
from annotation.curation import queries as curation_queries
from annotation.curation.actions import add_clusters, add_sentences
from annotation.curation.serializers import CurationSerializer
from annotation.formats.pubmed.record import Record, compose_abstract
from annotation.kinds.sentences import targets
from annotation.kinds.supersede import supersede_target
from annotation.models import Review, Sentence, Study, Target
from api.problems import Refused
from audit.actions import create_checkpoints
from audit.triggers import suspend_triggers
from audit.verify import findings
from measures.sentences import SPLITTER
from projects import kinds
from projects.agreement.queries import report
from projects.curation.actions import Correction, correct, correct_all
from projects.gold.actions import finish_round
from projects.gold.queries import current_decisions, current_values
from projects.models import Decision, Member, Origin, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from projects.rounds.choosing import units as chosen
from projects.staleness.actions import stale_units
from releases.folders.dictionary import table_of
from releases.formats import abstracts
from releases.formats.notes import Notes
from sql.bulk import BulkWriter
from tests.builders import answer, build_round

pytestmark = pytest.mark.django_db
KIND = "sentences"
# The first letter is one code point and two UTF-16 units.
ABSTRACT, SECTIONS = compose_abstract(
    [
        ("AIM", "OBJECTIVE", "\U0001d6fc-Blockers are old. We compared nepralin with placebo."),
        ("RESULTS", "RESULTS", "Nine trials were included. Nepralin reduced pain (p < 0.05)."),
        ("CONCLUSIONS", "CONCLUSIONS", "Nepralin reduces pain."),
    ]
)
TEXTS = [
    "\U0001d6fc-Blockers are old.",
    "We compared nepralin with placebo.",
    "Nine trials were included.",
    "Nepralin reduced pain (p < 0.05).",
    "Nepralin reduces pain.",
]


def build_review(project: Project, number: int = 0, **fields: Any) -> Review:
    pmid = str(26_000_000 + number)
    unit = Unit.objects.create(project=project, type="review", key=pmid)
    about: dict[str, Any] = {"title": f"Nepralin, review {number}", "abstract": ABSTRACT, "sections": sections()}
    return Review.objects.create(project=project, pmid=pmid, unit=unit, **about | fields)


def sections() -> list[dict[str, Any]]:
    return [section._asdict() for section in SECTIONS]


@pytest.fixture
def people(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    build_review(project)
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2, evaluator)]


def open_for(project: Project, people: list[Member], task: str, **plan: Any) -> Round:
    return build_round(project, people, kind=KIND, overlap=len(people), options={"sentence_task": task}, **plan)


def classes(*said: str) -> dict[str, Any]:
    return {"sentence_classes": [{"number": n, "said": one} for n, one in enumerate(said, start=1)]}


def evidence(*said: str, dropped: str = "") -> dict[str, Any]:
    marks = [{"number": n, "said": one} for n, one in enumerate(said, start=1)]
    return {"evidence_sentences": {"dropped": dropped, "sentences": marks}}


def work(round: Round, people: list[Member], *values: dict[str, Any]) -> None:
    for person, value in zip(people, values, strict=True):
        [slot] = next_assignments(user=person.user, round=round)
        answer(person.user, slot, value, kind=KIND)


def finished(round: Round, by: User) -> Round:
    close_round(round=round, by=by)
    finish_round(round=round, by=by)
    return round


NINE = ("BACKGROUND", "GOAL", "METHODS", "DETAILED_FINDINGS", "EFFECT")
OTHERWISE = ("BACKGROUND", "GOAL", "METHODS", "EFFECT", "EFFECT")
THIRD = ("BACKGROUND", "GOAL", "ETC", "DETAILED_FINDINGS", "EFFECT")


def test_an_abstract_is_split_under_its_headings_by_code_points() -> None:
    found = pieces(ABSTRACT, sections())
    assert [ABSTRACT[piece.start : piece.end] for piece in found] == TEXTS
    assert [piece.section for piece in found] == ["AIM", "AIM", "RESULTS", "RESULTS", "CONCLUSIONS"]
    assert found[-1].category == "CONCLUSIONS"
    assert [p.section for p in pieces("One text. Another one.", [])] == ["", ""], "without headings"
    unlabelled = pieces("Before. AIM: This. After.", [{"label": "AIM", "category": "", "start": 13, "end": 18}])
    assert [("Before. AIM: This. After."[p.start : p.end], p.section) for p in unlabelled] == [
        ("Before.", ""),
        ("This.", "AIM"),
        ("After.", ""),
    ]


def test_texts_with_too_many_sentences_end_with_a_long_one() -> None:
    abstract = "A? " * 33_000
    found = pieces(abstract, [])
    assert len(found) == MOST
    assert (found[-2].end - found[-2].start, found[-1].end) == (2, len(abstract.rstrip()))


def test_a_record_brings_its_sentences_and_a_known_one_gets_them_with_its_abstract(project: Project) -> None:
    waiting = build_review(project, 1, abstract="", sections=[])
    records = [Record(pmid, "Nepralin", ABSTRACT, SECTIONS) for pmid in ("26000001", "26000002")]
    for review in (None, waiting):
        articles, rows = Articles(project, review=review), BulkWriter()
        articles.compare(records)
        articles.create_items(rows)
        articles.complete()
        rows.write()
    articles_there: list[Review | Study] = [*Review.objects.all(), *Study.objects.all()]
    for article in articles_there:
        rows_of = list(article.sentences.order_by("number"))
        assert [row.text for row in rows_of] == TEXTS
        assert {row.splitter for row in rows_of} == {SPLITTER}
        assert all(article.abstract[row.start : row.end] == row.text for row in rows_of)
    assert Sentence.objects.count() == 4 * len(TEXTS)


def test_a_command_splits_earlier_abstracts_once(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    build_review(project)
    Study.objects.create(project=project, pmid="1", abstract="It helped. It did.")
    Study.objects.create(project=project, pmid="2")
    call_command("sentences", project=project.slug)
    assert capsys.readouterr().out == "7 sentences of 2 abstracts stored.\n"
    call_command("sentences", project=project.slug)
    assert capsys.readouterr().out == "0 sentences of 0 abstracts stored.\n"
    assert split(Review.objects.all()) == len(TEXTS), "whoever splits the same meanwhile writes the same rows"
    assert Sentence.objects.count() == 7
    assert not unsplit(Review.objects.all()).exists()


@pytest.mark.engine
def test_a_stored_sentence_never_changes(project: Project) -> None:
    build_review(project)
    split(Review.objects.all())
    with pytest.raises(DatabaseError):
        Sentence.objects.update(text="Something else.")


def test_a_sentence_that_was_changed_behind_the_triggers_is_found(project: Project) -> None:
    build_review(project)
    Study.objects.create(project=project, pmid="1", abstract="It helped.")
    split(Review.objects.all())
    split(Study.objects.all())
    create_checkpoints()
    with suspend_triggers(connection):
        Sentence.objects.filter(number=1).update(text="Something else.")
    [found] = findings()
    assert "annotation.sentence" in str(found)
    assert "changed since its digest was stored" in str(found)


def test_a_card_shows_the_sentences_and_the_task(project: Project, people: list[Member]) -> None:
    round = open_for(project, people[:1], "sentence_classes")
    [card] = cards(round, next_assignments(user=people[0].user, round=round))
    assert card["task"] == "sentence_classes"
    assert [one["text"] for one in card["sentences"]] == TEXTS
    assert [one["section"] for one in card["sentences"]][2:] == ["RESULTS", "RESULTS", "CONCLUSIONS"]


def test_every_sentence_must_be_answered_as_the_round_asks(project: Project, people: list[Member]) -> None:
    round = open_for(project, people[:1], "sentence_classes")
    [slot] = next_assignments(user=people[0].user, round=round)
    for value in (classes(*NINE[:-1]), classes(*NINE, "ETC"), evidence("picked", *["neither"] * 4)):
        with pytest.raises(Refused):
            answer(people[0].user, slot, value, kind=KIND)
    serializer = kinds.get(KIND).value_serializer
    for wrong in ({}, classes(*NINE) | evidence(*["neither"] * 5), evidence("picked", dropped="too many studies")):
        assert not serializer(data=wrong).is_valid()
    twice = {"sentence_classes": [{"number": 1, "said": "ETC"}, {"number": 1, "said": "GOAL"}]}
    assert not serializer(data=twice).is_valid()


def test_gold_is_the_majority_by_sentence_if_one_answer_equals_it(
    project: Project, people: list[Member], lead: User
) -> None:
    """No two of three people agree on the whole, and the first has the majority value of each sentence."""
    round = open_for(project, people, "sentence_classes")
    work(round, people, classes(*NINE), classes(*OTHERWISE), classes(*THIRD))
    finished(round, lead)
    unit = Review.objects.get().unit
    [decision] = current_decisions([unit.pk], KIND).values()
    assert (decision.field, decision.origin) == ("sentence_classes", Origin.MAJORITY)
    assert current_values([unit], KIND)[unit.pk] == classes(*NINE)
    words = kinds.get(KIND).in_words(classes(*NINE))
    assert words == {"sentence_classes": "1: Background; 2: Goal; 3: Methods; 4: Detailed findings; 5: Effect"}


def test_majorities_that_nobody_gave_as_a_whole_go_to_a_curator(
    project: Project, people: list[Member], lead: User
) -> None:
    round = open_for(project, people[:2], "sentence_classes")
    work(round, people[:2], classes(*NINE), classes(*OTHERWISE))
    finished(round, lead)
    assert Decision.objects.contested().get().field == "sentence_classes"


def test_agreement_counts_sentences_of_one_review(project: Project, people: list[Member], lead: User) -> None:
    round = open_for(project, people[:2], "sentence_classes")
    work(round, people[:2], classes(*NINE), classes(*OTHERWISE))
    by_name = {m["name"]: m for m in report(finished(round, lead))["measures"]}
    assert list(by_name) == ["class", "derived part"]
    assert by_name["class"]["all_agree"] == {"count": 4, "of": 5}
    assert by_name["derived part"]["all_agree"] == {"count": 4, "of": 5}, "an effect is a target, a finding is none"


def test_a_review_is_dropped_for_too_many_studies_and_for_nothing_else(
    project: Project, people: list[Member], lead: User
) -> None:
    round = open_for(project, people, "evidence_sentences")
    picks = evidence("neither", "neither", "neither", "table data", "picked")
    work(round, people, evidence(dropped="too many studies"), picks, picks)
    by_name = {m["name"]: m for m in report(finished(round, lead))["measures"]}
    assert list(by_name) == ["evidence", "picked", "review"]
    assert by_name["review"]["all_agree"] == {"count": 0, "of": 1}
    kind, dropped = kinds.get(KIND), evidence(dropped="too many studies")
    assert kind.distance("evidence_sentences", picks, dropped) == 1.0
    assert kind.distance("evidence_sentences", picks, evidence(*["neither"] * 4, "picked")) == pytest.approx(1 / 6)
    assert kind.in_words(picks) == {"evidence_sentences": "picked: 5; table data: 4"}
    assert kind.in_words(dropped) == {"evidence_sentences": "dropped: too many studies"}
    assert [row["sentence"] for row in kind.rows(picks)] == ["", "1", "2", "3", "4", "5"]


def test_the_two_sentence_tasks_have_separate_current_values(
    project: Project, people: list[Member], lead: User
) -> None:
    for task, value in (("sentence_classes", classes(*NINE)), ("evidence_sentences", evidence(*["neither"] * 5))):
        round = open_for(project, people[:1], task, name=task)
        work(round, people[:1], value)
        finished(round, lead)
    unit, by = Review.objects.get().unit, Member.objects.get(project=project, user=lead)
    assert current_values([unit], KIND)[unit.pk] == classes(*NINE) | evidence(*["neither"] * 5)
    made = correct(unit=unit, kind=KIND, value=classes(*OTHERWISE), reason="Read again.", by=by)
    assert [decision.field for decision in made] == ["sentence_classes"]
    assert current_values([unit], KIND)[unit.pk] == classes(*OTHERWISE) | evidence(*["neither"] * 5)
    rows = kinds.get(KIND).rows(current_values([unit], KIND)[unit.pk])
    assert [row["class"] for row in rows if row["class"]] == list(OTHERWISE)
    for task in ("sentence_classes", "evidence_sentences"):
        assert chosen(project, KIND, {}, "practice", {"sentence_task": task}).count() == 1


def test_practice_tolerates_as_many_wrong_sentences_as_the_round_allows() -> None:
    kind, field = kinds.get(KIND), "sentence_classes"
    for off, right in ((0, False), (1, True)):
        round = Round(kind=KIND, policy={"sentences_off": off})
        assert kind.is_correct(field, classes(*NINE), classes(*OTHERWISE), round) is right


def test_an_abstract_that_is_missing_is_asked_of_nobody(project: Project) -> None:
    build_review(project, 1, abstract="", sections=[])
    there = build_review(project, 2, topic="gout")
    kind = kinds.get(KIND)
    assert list(kind.units(project)) == [there.unit]
    narrow = {f.parameter.name: f.narrow for f in kind.filters}
    assert list(narrow["topic"](kind.units(project), "GOUT")) == [there.unit]
    assert list(narrow["included"](kind.units(project), True)) == [], "nobody has screened it"


def decide(project: Project, by: Member, *said: str, dropped: str = "") -> None:
    unit = Review.objects.get(project=project).unit
    correct(unit=unit, kind=KIND, value=evidence(*said, dropped=dropped), reason="Read again.", by=by)


@pytest.fixture
def by(project: Project, people: list[Member], lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def current() -> list[tuple[str, str]]:
    return list(Target.objects.current().order_by("position").values_list("key", "text"))


def test_selected_sentences_become_targets_until_deselected(project: Project, people: list[Member], by: Member) -> None:
    round = open_for(project, people[:1], "evidence_sentences")
    work(round, people[:1], evidence("neither", "neither", "needs aggregation", "picked", "picked"))
    finished(round, by.user)
    finish_round(round=round, by=by.user)
    both = [("26000000_0", TEXTS[3]), ("26000000_1", TEXTS[4])]
    assert current() == both, "once, whoever asks again"
    assert {t.sentence and t.sentence.number for t in Target.objects.all()} == {4, 5}
    decide(project, by, "neither", "neither", "neither", "table data", "picked")
    assert current() == both[1:]
    assert Target.objects.get(key="26000000_0").unit.superseded_by == Review.objects.get().unit
    decide(project, by, "picked", "neither", "neither", "picked", "picked")
    assert current() == [*both, ("26000000_2", TEXTS[0])], "it is brought back, and no key is used twice"
    decide(project, by, dropped="too many studies")
    assert current() == []
    assert list(findings()) == []


def test_a_target_with_answers_stays_and_is_marked_for_review(project: Project, by: Member) -> None:
    decide(project, by, "picked", "neither", "neither", "neither", "picked")
    first, second = Target.objects.order_by("position")
    [made, _] = add_clusters(
        review=first.review,
        by=by,
        batch=uuid4(),
        rows=[
            {"text": TEXTS[0], "sentence": t.pk, "tuple": None, "label": None, "inputs": [], "relation": ""}
            for t in (first, second)
        ],
    )
    slot = {"text": "nepralin", "fragments": []}
    value = {"p": slot, "i": slot, "c": slot | {"stands_for": ""}, "o": slot}
    correct(unit=made.unit, kind="tuple", value=value, reason="First.", by=by)
    better = supersede_target(target=first, text="Nepralin is old.", reason="A typing error.", by=by)
    decide(project, by, "neither", "neither", "neither", "neither", "picked")
    assert better in Target.objects.current()
    assert stale_units([made.unit_id]) == {(made.unit_id, "tuple")}


def test_a_sentence_that_was_typed_in_before_is_no_second_target(project: Project, by: Member) -> None:
    [typed] = add_sentences(review=Review.objects.get(), rows=[{"text": TEXTS[4], "inputs": []}], by=by)
    decide(project, by, "neither", "neither", "neither", "neither", "picked")
    assert [t.pk for t in Target.objects.all()] == [typed.pk]


def test_targets_of_many_reviews_take_the_same_queries_as_few(project: Project, by: Member) -> None:
    for number in range(1, 7):
        build_review(project, number)
    units = list(kinds.get(KIND).units(project))
    split(Review.objects.all())
    picked = evidence("neither", "neither", "neither", "neither", "picked")
    correct_all([Correction(unit, KIND, picked) for unit in units], project=project, reason="R.", by=by)
    assert len(current()) == 7
    counts = []
    for some in (units[:2], units[2:]):
        Target.objects.filter(review__unit__in=some).delete()
        Unit.objects.filter(type="target sentence", target=None).delete()
        with CaptureQueriesContext(connection) as queries:
            targets.update_targets(some, by=by.user, reason="R.")
        counts.append(len(queries))
    assert len(current()) == 7
    assert counts[0] == counts[1] < 20


def test_current_classes_give_background_and_target_on_page_and_in_release(
    project: Project, people: list[Member], by: Member
) -> None:
    review = Review.objects.get()
    correct(unit=review.unit, kind=KIND, value=classes(*NINE), reason="Read.", by=by)
    decide(project, by, "neither", "neither", "neither", "table data", "picked")
    correct(unit=review.unit, kind=KIND, value=classes(*OTHERWISE), reason="Read again.", by=by)
    page = CurationSerializer(curation_queries.page(review, offset=0, limit=1)).data
    assert page["derived"] == {"background": "\n".join(TEXTS[:2]), "target": "\n".join(TEXTS[3:])}
    written = {path: [json.loads(line) for line in lines] for path, lines in abstracts.files(project, Notes())}
    assert written["abstracts/derived.jsonl"] == [{"review": review.pmid, **page["derived"]}]
    rows = written["abstracts/sentences.jsonl"]
    assert [row["text"] for row in rows] == [review.abstract[row["start"] : row["end"]] for row in rows] == TEXTS
    assert [row["derived"] for row in rows] == ["BACKGROUND", "BACKGROUND", "OTHER", "TARGET", "TARGET"]
    assert [row["as_evidence"] for row in rows][2:] == ["neither", "table data", "picked"]
    for path, lines in written.items():
        table = table_of(path)
        assert table
        assert all(set(row) == set(table.columns) for row in lines)
    build_review(project, 3)
    assert len(list(abstracts.files(project, Notes()))) == 2, "what nothing is said of is left out"


def test_a_long_abstract_costs_no_more_queries_than_a_short_one(project: Project, people: list[Member]) -> None:
    build_review(project, 1, abstract="It helped. " * 60, sections=[])
    round = open_for(project, people[:1], "sentence_classes")
    counts = []
    for _ in range(2):
        slot = next_assignments(user=people[0].user, round=round)[0]
        said = classes(*["ETC"] * Sentence.objects.filter(review__unit=slot.unit_id).count())
        with CaptureQueriesContext(connection) as queries:
            answer(people[0].user, slot, said, kind=KIND)
        counts.append(len(queries))
    assert counts[1] <= counts[0]
