"""Populations, interventions and outcomes in abstracts: units, cards, answers, gold, agreement and suggestions."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.kinds.entity.current import decided_spans
from annotation.models import AbstractUnit, Element, EntityReading, MachineReading, Review, Study
from api.problems import Refused
from measures.pio import untag
from measures.text_agreement import METHODS
from projects.agreement.queries import report
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.models import Decision, Import, Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from projects.rounds.planning import RoundPlan, count_asked, matching_units
from tests.builders import answer, build_round, include

pytestmark = pytest.mark.django_db
KIND = "entity"
TAGGED = "We asked whether <int> nepralin </int> lowers the <out> risk of <pop> hip fracture </out> women </pop> . 😀 "
TEXT, TAGS = untag(TAGGED)


@pytest.fixture
def review(project: Project) -> Review:
    unit = Unit.objects.create(project=project, type="review", key="26000000")
    return Review.objects.create(project=project, pmid=unit.key, unit=unit, title="Nepralin", abstract=TEXT)


@pytest.fixture
def people(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def spans(*quotes: str, **more: Any) -> list[dict[str, Any]]:
    return [{"start": TEXT.index(q), "end": TEXT.index(q) + len(q), "quote": q} | more for q in quotes]


def value(p: Any = (), i: Any = (), o: Any = (), rejected: Any = ()) -> dict[str, Any]:
    named = {"population_spans": spans(*p), "intervention_spans": spans(*i), "outcome_spans": spans(*o)}
    return named | {"rejected_spans": [spans(quote)[0] | {"element": element} for element, quote in rejected]}


def work(round: Round, people: list[Member], *values: dict[str, Any]) -> None:
    for person, each in zip(people, values, strict=True):
        [slot] = next_assignments(user=person.user, round=round)
        answer(person.user, slot, each, kind=KIND)


BOTH = {"abstracts": "both"}


def build_import(project: Project, digest: str = "a") -> Import:
    return Import.objects.create(
        project=project, format="ms2", file_name="r.jsonl", sha256=digest * 64, size=1, created_at=timezone.now()
    )


def test_a_round_asks_about_reviews_and_their_studies_once_each(
    project: Project, review: Review, people: list[Member]
) -> None:
    other = Review.objects.create(
        project=project,
        pmid="26000001",
        unit=Unit.objects.create(project=project, type="review", key="26000001"),
        abstract="Another abstract .",
    )
    shared, empty = (
        Study.objects.create(project=project, pmid=pmid, abstract=abstract)
        for pmid, abstract in (("1", "A trial ."), ("2", ""))
    )
    include(review, shared, empty)
    include(other, shared)
    round = build_round(project, people, kind=KIND, options=BOTH)
    asked = round.assignments.order_by("position").values_list("unit__type", "unit__key").distinct()
    assert list(dict.fromkeys(asked)) == [
        ("abstract", "review 26000000"),
        ("abstract", "study 1"),
        ("abstract", "review 26000001"),
    ]
    only_studies = build_round(project, people, kind=KIND, name="studies", options={"abstracts": "studies"})
    assert {a.unit.key for a in only_studies.assignments.select_related("unit")} == {"study 1"}
    assert AbstractUnit.objects.count() == 3, "a second round finds the units of the first"


def test_answers_come_back_and_equal_sets_of_an_element_become_gold(
    project: Project, review: Review, people: list[Member], lead: User
) -> None:
    round = build_round(project, people, kind=KIND, options=BOTH, overlap=2)
    one = value(p=["hip fracture women"], i=["nepralin"], o=["risk of hip fracture"])
    # The order of the submission does not matter, and both agree on all but the outcome.
    other = value(p=["hip fracture women"], i=["nepralin"], o=["risk", "risk of hip fracture"])
    work(round, people, one, other)
    close_round(round=round, by=lead)
    assert finish_round(round=round, by=lead)["decisions"] == {"unanimous": 2, "contested": 1}
    abstract = Unit.objects.get(abstract__review=review)
    gold = current_values([abstract], KIND)[abstract.pk]
    assert [span["quote"] for span in gold["population_spans"]] == ["hip fracture women"]
    assert "outcome_spans" not in gold
    stored = EntityReading.objects.order_by("pk").last()
    assert stored
    assert list(stored.spans.filter(element="o").values_list("quote", flat=True)) == ["risk of hip fracture", "risk"]


def test_agreement_equals_a_count_by_hand(project: Project, review: Review, people: list[Member], lead: User) -> None:
    round = build_round(project, people, kind=KIND, options=BOTH, overlap=2, purpose="measure only")
    work(round, people, value(o=["risk of hip fracture"]), value(o=["risk", "hip fracture"]))
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    figures = {(one["name"], one["method"]): one for one in report(round)["spans"]}
    # One span against two, of which one is matched.
    assert figures["outcome", METHODS["spans"]]["value"] == 0
    assert figures["outcome", METHODS["overlap"]]["value"] == pytest.approx(2 / 3)
    # 13 words between blanks, with "." and the emoji: 4 and 3 marked, 12 alike, expected (4 * 3 + 9 * 10) / 169.
    assert figures["outcome", METHODS["kappa"]]["value"] == pytest.approx(54 / 67)
    none = figures["population", METHODS["kappa"]]
    assert (none["value"], none["undefined"], none["both_empty"]) == (None, "no span marked", 1)


def test_suggestions_are_shown_only_if_the_round_says_so_and_what_became_of_them_is_kept(
    project: Project, review: Review, people: list[Member], lead: User
) -> None:
    MachineReading.objects.create(task="pio", review=review, values={"tags": TAGS}, imported=build_import(project))
    independent = build_round(project, people, kind=KIND, options=BOTH)
    assert cards(independent, list(independent.assignments.all()))[0]["suggestions"] is None
    assisted = build_round(project, people[:1], kind=KIND, name="assisted", options=BOTH | {"suggest_spans": True})
    [card] = cards(assisted, list(assisted.assignments.all()))
    shown = [(one["element"], TEXT[one["start"] : one["end"]]) for one in card["suggestions"]]
    assert shown == [("i", "nepralin"), ("o", "risk of hip fracture"), ("p", "hip fracture women")]
    accepted = value(i=["nepralin"], rejected=[("p", "hip fracture women")])
    accepted["intervention_spans"][0]["suggestion"] = "accepted"
    work(assisted, people[:1], accepted)
    assert "suggestions_shown" not in report(independent)
    assert report(assisted)["suggestions_shown"]
    [answered] = cards(assisted, list(assisted.assignments.all()))
    assert answered["value"]["rejected_spans"] == accepted["rejected_spans"]
    assert answered["value"]["intervention_spans"] == accepted["intervention_spans"]


def test_a_correction_round_starts_from_the_spans_of_the_newest_reading(
    project: Project, review: Review, people: list[Member], lead: User
) -> None:
    studies = [Study.objects.create(project=project, pmid=str(n), abstract=TEXT) for n in range(3)]
    include(review, *studies)
    old, new = build_import(project), build_import(project, "b")
    for of in ({"review": review}, {"study": studies[0]}, {"study": studies[1]}):
        MachineReading.objects.create(task="pio", values={"tags": []}, imported=old, **of)
        MachineReading.objects.create(task="pio", values={"tags": TAGS}, imported=new, weights="w", **of)
    plan = RoundPlan(name="x", kind=KIND, purpose="review and correct", overlap=1, people=(), options=BOTH)
    assert count_asked(project, plan, matching_units(project, plan)) == 3
    assert not Decision.objects.exists()
    round = build_round(project, people[:1], kind=KIND, purpose="review and correct", overlap=1, options=BOTH)
    # A model has not read the third study.
    asked = round.assignments.order_by("position").values_list("unit__key", flat=True)
    assert list(asked) == ["review 26000000", "study 0", "study 1"]
    assert set(Decision.objects.values_list("origin", "imported", "unit__type")) == {("machine", new.pk, "abstract")}
    assert Decision.objects.count() == 9
    # Nobody has decided yet, so pages and releases have the model's spans as machine.
    assert decided_spans([review], [study.pk for study in studies]) == {}
    found = value(p=["hip fracture women"], i=["nepralin"], o=["risk of hip fracture"])
    [card] = cards(round, list(round.assignments.order_by("position")[:1]))
    assert [span["quote"] for span in card["value"]["outcome_spans"]] == ["risk of hip fracture"]
    for corrected in (found, found, value(p=["women"], i=["nepralin"])):
        slot, *_ = next_assignments(user=people[0].user, round=round)
        shown = tuple(Decision.objects.filter(unit=slot.unit_id).values_list("pk", flat=True))
        answer(people[0].user, slot, corrected, kind=KIND, references=shown)
    close_round(round=round, by=lead)
    # The third answer corrects two of its three elements.
    assert finish_round(round=round, by=lead)["decisions"] == {"single": 2}
    fields = {one["field"]: (one["corrected"], one["reviewed"]) for one in report(round)["review"]["fields"]}
    assert fields == {"population_spans": (1, 3), "intervention_spans": (0, 3), "outcome_spans": (1, 3)}
    again = build_round(
        project, people[:1], kind=KIND, name="again", purpose="review and correct", overlap=1, options=BOTH
    )
    assert again.units_count == 3, "the same abstracts, with their decided values"
    corrected_unit = Unit.objects.get(abstract__study=studies[1])
    assert decided_spans([], [studies[0].pk])["study", studies[0].pk][Element.I], "a person has confirmed them"
    assert current_values([corrected_unit], KIND)[corrected_unit.pk]["outcome_spans"] == []


@pytest.mark.parametrize(
    "wrong",
    [{"start": 0, "end": 2, "quote": "Xe"}, {"start": 0, "end": 10_000, "quote": "We"}],
    ids=["wrong quote", "beyond the end"],
)
def test_a_span_that_the_text_does_not_contain_is_refused_by_field(
    project: Project, review: Review, people: list[Member], wrong: dict[str, Any]
) -> None:
    round = build_round(project, people[:1], kind=KIND, options=BOTH)
    [slot] = next_assignments(user=people[0].user, round=round)
    with pytest.raises(Refused) as refused:
        answer(people[0].user, slot, value() | {"outcome_spans": [*spans("risk"), wrong]}, kind=KIND)
    assert refused.value.errors[0]["field"] == "value.outcome_spans.1"


def test_cards_take_the_same_number_of_queries_for_one_text_and_for_many(
    project: Project, review: Review, people: list[Member]
) -> None:
    studies = [Study.objects.create(project=project, pmid=str(n), abstract=f"Trial {n} .") for n in range(8)]
    include(review, *studies)
    round = build_round(project, people[:1], kind=KIND, options=BOTH | {"suggest_spans": True})
    slots = list(round.assignments.select_related("unit", "round"))
    assert len(slots) == 9
    taken = []
    for shown in (slots[:2], slots):
        with CaptureQueriesContext(connection) as queries:
            cards(round, shown)
        taken.append(len(queries))
    assert taken[0] == taken[1]
