"""Included studies of reviews: answers, aggregation, and resulting links."""

import itertools
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.kinds.studies import current
from annotation.models import (
    DecidedLink,
    FullText,
    Inclusion,
    Input,
    Level,
    ListedStudy,
    RecordStatus,
    Review,
    Role,
    Study,
    Target,
)
from api.problems import Refused
from audit.actions import create_checkpoints
from audit.models import Entry
from audit.verify import findings
from measures.text_agreement import compared
from projects import kinds
from projects.agreement.queries import report
from projects.curation.actions import Correction, correct, correct_all
from projects.gold.actions import finish_round
from projects.models import Decision, Import, Member, Origin, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from tests.builders import answer, build_round, include
from tests.projects.adjudication import answer_by, send, take
from tests.projects.test_loop_api import body_of, put

pytestmark = pytest.mark.django_db
KIND, FIELD = "studies", "included_studies"
Json = dict[str, Any]


def build_review(project: Project, number: int = 0, **fields: Any) -> Review:
    unit = Unit.objects.create(project=project, type="review", key=str(26_000_000 + number))
    return Review.objects.create(
        project=project, pmid=unit.key, unit=unit, title=f"Nepralin, review {number}", **fields
    )


def listed(*pmids: str, without: int = 0, missing: dict[str, str] | None = None) -> Json:
    studies = [{"pmid": pmid, "missing": (missing or {}).get(pmid, "")} for pmid in pmids]
    return {FIELD: {"listed": studies, "without_pmid": without}}


def linked(review: Review) -> list[str]:
    return sorted(review.studies().values_list("pmid", flat=True))


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


@pytest.fixture
def people(project: Project, ann1: User, ann2: User, evaluator: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2, evaluator)]


@pytest.fixture
def review(project: Project) -> Review:
    return build_review(project, references=["11", "12", "13"])


def decide(review: Review, by: Member, *pmids: str, **fields: Any) -> None:
    correct(unit=review.unit, kind=KIND, value=listed(*pmids, **fields), reason="As it says.", by=by)


def work(round: Round, people: Sequence[Member], *values: Json) -> Round:
    for person, value in zip(people, values, strict=True):
        answer(person.user, next_assignments(user=person.user, round=round)[0], value, kind=KIND)
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)
    return round


def test_a_card_offers_the_reference_list_without_showing_links(
    project: Project, review: Review, people: list[Member]
) -> None:
    include(review, Study.objects.create(project=project, pmid="12", title="A trial of nepralin"))
    round = build_round(project, people[:1], kind=KIND)
    [card] = cards(round, next_assignments(user=people[0].user, round=round))
    assert card["cited"] == [
        {"pmid": "11", "text": "", "marked": False},
        {"pmid": "12", "text": "A trial of nepralin", "marked": False},
        {"pmid": "13", "text": "", "marked": False},
    ]


def test_a_reference_without_words_has_the_title_that_the_project_knows(
    project: Project, review: Review, people: list[Member]
) -> None:
    earlier = build_review(project, 1)
    given: Json = {"format": "jats", "file_name": "f", "sha256": "0" * 64, "size": 1, "created_at": timezone.now()}
    imported = Import.objects.create(project=project, **given)
    Study.objects.create(project=project, pmid="21", title="A trial of nepralin")
    said = (("21", ""), (earlier.pmid, ""), ("22", "Ndlovu 2009"))
    references = [{"pmid": pmid, "text": text, "doi": "", "is_included": False} for pmid, text in said]
    FullText.objects.create(review=review, imported=imported, sections=[], references=references)
    round = build_round(project, people[:1], kind=KIND)
    shown = cards(round, next_assignments(user=people[0].user, round=round))
    [card] = [card for card in shown if card["pmid"] == review.pmid]
    assert [one["text"] for one in card["cited"][:3]] == ["A trial of nepralin", earlier.title, "Ndlovu 2009"]


def test_current_study_lists_link_reviews_and_add_studies(project: Project, review: Review, by: Member) -> None:
    Study.objects.create(project=project, pmid="11", record=RecordStatus.READ)
    decide(review, by, "11", "99")
    assert linked(review) == ["11", "99"]
    assert Study.objects.get(pmid="99").record == RecordStatus.NOT_READ
    decide(review, by, "99", "11")
    assert Entry.objects.filter(verb="link studies").count() == 1, "the same list in another order changes nothing"
    create_checkpoints()
    decide(review, by, "99", "12")
    assert linked(review) == ["12", "99"]
    assert list(findings()) == [], "a link that went was taken out by a person, and the log says so"


def test_undoing_a_study_list_restores_imported_and_found_studies(
    project: Project, review: Review, people: list[Member], by: Member, client_of: Any
) -> None:
    for pmid in ("11", "12"):
        include(review, Study.objects.create(project=project, pmid=pmid))
    round = build_round(project, people[:2], kind=KIND, overlap=2)
    work(round, people[:2], listed("12", "13"), listed("14"))
    assert linked(review) == ["11", "12"], "nothing is decided yet"
    client, act = client_of(by.user), str(uuid.uuid4())
    assert take(client, round, review.unit, answer_by(round, review.unit, people[0]), uuid=act).status_code == 201
    assert linked(review) == ["12", "13"]
    assert send(client, round, "undo/", act=act).status_code == 201
    assert linked(review) == ["11", "12"]
    assert not DecidedLink.objects.exists()
    decide(review, by, "11")
    decide(review, by, "12")
    assert linked(review) == ["12"]


def test_a_study_whose_text_is_an_input_of_the_review_stays_linked(
    project: Project, review: Review, by: Member
) -> None:
    study = Study.objects.create(project=project, pmid="12")
    include(review, study)
    unit = Unit.objects.create(project=project, type="target sentence", key="26000000_0")
    target = Target.objects.create(
        project=project, review=review, level=Level.SENTENCE, key=unit.key, position=0, text="It helps.", unit=unit
    )
    Input.objects.create(target=target, study=study, position=0, text="It helped.")
    decide(review, by, "11")
    assert linked(review) == ["11", "12"]


def test_a_decided_list_changes_the_roles_of_imported_references(project: Project, review: Review, by: Member) -> None:
    about: Json = {"format": "m3", "file_name": "f", "sha256": "0" * 64, "size": 1, "created_at": timezone.now()}
    imported = Import.objects.create(project=project, **about)
    cited = [Study.objects.create(project=project, pmid=pmid) for pmid in ("11", "12")]
    include(review, cited[0], imported=imported, metadata={"YEAR": 1999})
    include(review, cited[1], imported=imported, role=Role.GENERAL)
    before = list(Inclusion.objects.values())
    create_checkpoints()
    assert linked(review) == ["11"]
    decide(review, by, "12", "99")
    assert linked(review) == ["12", "99"]
    assert Inclusion.objects.get(study__pmid="99").position == 2
    decide(review, by, "11")
    assert list(Inclusion.objects.values()) == before, "what the file says of a study is kept"
    assert list(findings()) == []


def test_gold_is_the_list_of_most_and_of_three_that_which_has_what_two_list(
    project: Project, review: Review, people: list[Member]
) -> None:
    round = build_round(project, people, kind=KIND, overlap=3)
    work(round, people, listed("11", "12"), listed("11", "12", "13"), listed("12", "11", "99"))
    decision = Decision.objects.get(unit=review.unit)
    assert (decision.origin, linked(review)) == (Origin.MAJORITY, ["11", "12"])
    assert [one.pmid for one in ListedStudy.objects.filter(study_list__answer=decision.answer)] == ["11", "12"]


def test_different_study_lists_wait_for_a_curator_and_make_no_links(
    project: Project, review: Review, people: list[Member]
) -> None:
    round = build_round(project, people[:2], kind=KIND, overlap=2)
    closed = work(round, people[:2], listed("11", "12"), listed("11", without=1))
    assert Decision.objects.contested().get().field == FIELD
    assert linked(review) == []
    found = report(closed)
    texts = {one["name"]: one["value"] for one in found["spans"]}
    assert texts == {"included studies": pytest.approx(2 / 3), "number of studies": 0, "studies without a PMID": 1}


def test_reasons_for_missing_abstracts_have_agreement_but_no_contests(
    project: Project, review: Review, people: list[Member]
) -> None:
    round = build_round(project, people[:2], kind=KIND, overlap=2)
    one, other = listed("11", "12", missing={"11": "old"}), listed("12", "11")
    closed = work(round, people[:2], one, other)
    assert Decision.objects.get(unit=review.unit).origin == Origin.UNANIMOUS
    [abstract] = report(closed)["measures"]
    assert abstract["all_agree"] == {"count": 1, "of": 2}


def test_the_distance_of_two_lists_is_one_less_their_f1() -> None:
    kind = kinds.get(KIND)
    assert kind.distance(FIELD, listed("1", "2"), listed("2", "1")) == 0
    assert kind.distance(FIELD, listed("1", "2"), listed("1", "2", without=1)) == pytest.approx(0.1)
    assert kind.distance(FIELD, listed("1", "2"), listed("1", "3")) == pytest.approx(0.5)
    assert kind.distance(FIELD, listed(), listed("1")) == 1
    for off, right in ((1, False), (2, True)):
        round = Round(kind=KIND, policy={"studies_off": off})
        assert kind.is_correct(FIELD, listed("1", "2"), listed("1", "3"), round) is right


def test_a_study_list_has_a_row_for_itself_and_one_for_each_study() -> None:
    kind = kinds.get(KIND)
    value = listed("20", "3", without=1, missing={"3": "old"})
    assert kind.in_words(value) == {FIELD: "3 studies: 20, 3 (old); without a PMID: 1"}
    assert kind.in_words(listed()) == {FIELD: "0 studies"}
    whole, *studies = kind.rows(value)
    assert (whole["study"], whole["number"], whole["without_pmid"]) == ("", "3", "1")
    assert [(row["study"], row["abstract"], row["included"]) for row in studies] == [
        ("20", "expected", ""),
        ("3", "old", ""),
    ]
    said = [("r", rater, kind.rows(value)[0]) for rater in "ab"]
    assert [one.value for one in compared(kind.comparisons, said, {})] == [1, 0, 0]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (listed("11", "11"), "value.included_studies.listed"),
        (listed("abc"), "value.included_studies.listed.0.pmid"),
        (listed("0"), "value.included_studies.listed.0.pmid"),
        (listed("11", without=-1), "value.included_studies.without_pmid"),
        (listed("11", missing={"11": "lost"}), "value.included_studies.listed.0.missing"),
        (listed("26000000"), "value.included_studies.listed"),
    ],
)
def test_non_lists_are_refused_with_their_field(
    project: Project, review: Review, people: list[Member], client_of: Any, value: Json, field: str
) -> None:
    round = build_round(project, people[:1], kind=KIND)
    client: APIClient = client_of(people[0].user)
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    reply = put(client, body_of(card, kind=KIND, value=value))
    assert reply.status_code == 422, reply.json()
    assert [e["field"] for e in reply.json()["errors"]] == [field]


def test_the_review_itself_is_no_study_of_it(project: Project, review: Review, by: Member) -> None:
    with pytest.raises(Refused, match="the review itself"):
        decide(review, by, review.pmid)


def test_many_lists_take_the_same_queries_as_few(project: Project, by: Member) -> None:
    reviews = [build_review(project, number) for number in range(7)]
    numbers = itertools.count(100)
    counts = []
    for some in (reviews[:1], reviews[1:]):
        cells = [Correction(r.unit, KIND, listed(*(str(next(numbers)) for _ in range(5)))) for r in some]
        correct_all(cells, project=project, reason="R.", by=by)
        DecidedLink.objects.all().delete()
        Inclusion.objects.all().delete()
        with CaptureQueriesContext(connection) as queries:
            current.update_links([r.unit for r in some], by=by.user, reason="R.")
        counts.append(len(queries))
    assert counts[0] == counts[1] < 20


def test_next_and_answer_cost_the_same_however_long_the_lists_are(
    project: Project, people: list[Member], client_of: Any
) -> None:
    for number in range(30):
        build_review(project, number, references=[str(n) for n in range(1, 2 + 100 * (number % 3))])
    client: APIClient = client_of(people[0].user)
    round = build_round(project, people[:1], kind=KIND)
    costs = []
    for n in range(4):
        with CaptureQueriesContext(connection) as of_next:
            there = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"]
        value = listed(*(str(50 + one) for one in range(1 + 50 * n)))
        body = body_of(there[0], kind=KIND, value=value, have=[card["assignment"] for card in there])
        with CaptureQueriesContext(connection) as of_answer:
            assert put(client, body).status_code == 201
        walked = [q for q in of_answer.captured_queries if q["sql"].startswith('UPDATE "projects_participant"')]
        costs.append((len(of_next), len(of_answer) - len(walked)))
    # The first call fills caches.
    assert set(costs[1:]) == {(QUERIES_OF_NEXT, QUERIES_OF_ANSWER)}


#: Queries of any kind, plus the reviews, their full texts and known references, and the own PMID.
QUERIES_OF_NEXT = 13
QUERIES_OF_ANSWER = 15
