"""Writing summaries of passages: cards, checks, one value per writer, and the written summaries of a closed round."""

import copy
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from annotation.imports.actions import check_files, import_files
from annotation.kinds.write.checking import check_steps
from annotation.kinds.write.kind import NOTHING
from annotation.kinds.write.serializers import WriteValueSerializer
from annotation.models import Passage, QuestionText, WrittenSummary
from api.problems import Problem, Refused
from audit.actions import create_checkpoints
from audit.verify import findings
from projects import kinds
from projects.gold.actions import finish_round
from projects.models import Answer, Assignment, Decision, Member, Project, Round, Unit
from projects.overview.queries import overview
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round, remove_person
from projects.uploads.files import Source
from tests.annotation.test_mediqa import NINE, PASSAGES, QUESTIONS
from tests.builders import answer, build_round

KIND = "write"
PRIMARY = "question_driven_answer_summarization_primary_dataset.json"
Json = dict[str, Any]


@pytest.fixture
def people(project: Project, ann1: User, ann2: User, tmp_path: Path) -> list[Member]:
    (tmp_path / PRIMARY).write_bytes(NINE[PRIMARY])
    checked = check_files(project=project, format="mediqa-ans", sources=[Source.of(tmp_path / PRIMARY)])
    import_files(project=project, format="mediqa-ans", checked=checked, by=None)
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def open_writing(project: Project, people: list[Member], **options: Any) -> Round:
    plan = {"name": "Writing", "kind": KIND, "purpose": "collection", "overlap": len(people)}
    return build_round(project, people, **plan, options=options)


def card_of(slot: Assignment) -> Json:
    kind = kinds.get(KIND)
    return kind.card(slot, kind.load([slot], slot.round), slot.round)


def chunk(passage: str, start: int, end: int) -> Json:
    return {"passage": passage, "start": start, "end": end, "quote": PASSAGES[passage][1][start:end]}


def written(card: Json, words: str = "mine", nothing: str = "") -> Json:
    """Return a value for a card: the first sentence of each passage, and ``words`` about it."""
    steps = []
    for asked in card["asked_steps"]:
        of = [one for one in card["passages"] if asked["passage"] in ("", one["key"])]
        step: Json = {"passage": asked["passage"], "form": asked["form"], "text": "", "chunks": [], "nothing": False}
        if nothing and asked["passage"] == nothing:
            step["nothing"] = True
        elif asked["form"] == "abstractive":
            step["text"] = f"About {asked['passage'] or 'all'}, {words}."
        else:
            step["chunks"] = [chunk(one["key"], *one["sentences"][0].values()) for one in of]
            step["text"] = card["joiner"].join(one["quote"] for one in step["chunks"])
        steps.append(step)
    return {"steps": steps}


def write(round: Round, person: Member, **more: Any) -> dict[str, Json]:
    """Answer all questions as a person. Return the values by key of the question."""
    values = {}
    while held := next_assignments(user=person.user, round=round):
        values[held[0].unit.key] = written(card_of(held[0]), **more)
        answer(person.user, held[0], values[held[0].unit.key], kind=KIND)
    return values


@pytest.mark.django_db
def test_a_card_asks_for_each_passage_and_then_for_all(project: Project, people: list[Member]) -> None:
    round = open_writing(project, people, limit_passage_extractive=30, joiner="dots")
    slot = round.assignments.filter(unit__key="1").select_related("unit", "round")[0]
    card = card_of(slot)
    assert (card["question"], card["joiner"], card["limits_refuse"]) == (QUESTIONS["1"], " ... ", False)
    assert [(one["passage"], str(one["form"]), one["limit"]) for one in card["asked_steps"]] == [
        ("1_Answer2", "extractive", 30),
        ("1_Answer2", "abstractive", None),
        ("1_Answer10", "extractive", 30),
        ("1_Answer10", "abstractive", None),
        ("", "extractive", None),
        ("", "abstractive", None),
    ]
    first = card["passages"][0]
    assert [first["text"][one["start"] : one["end"]] for one in first["sentences"]] == [
        "Spots:",
        "A spot is flat.",
        "It is brown.",
        "- One",
        "- Two",
    ]


@pytest.mark.django_db
def test_the_passages_of_a_round_stay_when_ratings_change(project: Project, people: list[Member]) -> None:
    Passage.objects.filter(key="1_Answer10").update(rating=2)
    rated = open_writing(project, people)
    every = build_round(
        project, people, name="all", kind=KIND, purpose="collection", overlap=1, options={"asked_passages": "all"}
    )
    Passage.objects.update(rating=1)

    def keys(round: Round) -> list[str]:
        slot = round.assignments.filter(unit__key="1").select_related("unit", "round")[0]
        return [one["key"] for one in card_of(slot)["passages"]]

    assert keys(rated) == ["1_Answer2"]
    assert keys(every) == ["1_Answer2", "1_Answer10"]


@pytest.mark.django_db
@pytest.mark.parametrize("purpose", ["gold", "measure only", "review and correct", "practice"])
def test_only_collections_are_offered(project: Project, people: list[Member], purpose: str) -> None:
    with pytest.raises(Refused, match="collection"):
        build_round(project, people, kind=KIND, purpose=purpose)
    with pytest.raises(Refused, match="gold standard, reliability study"):
        build_round(project, people, kind="label", purpose="collection")


@pytest.mark.django_db
@pytest.mark.engine
def test_an_answer_is_read_back_and_verified(project: Project, people: list[Member]) -> None:
    round = open_writing(project, people)
    values = write(round, people[0], nothing="3_Answer1")
    stored = kinds.get(KIND).values(Answer.objects.values_list("pk", flat=True))
    keys = dict(Answer.objects.values_list("pk", "assignment__unit__key"))
    assert {keys[pk]: value for pk, value in stored.items()} == values
    create_checkpoints()
    assert not list(findings())
    rows = kinds.get(KIND).rows(values["3"])
    assert [(row["step"], row["status"] == NOTHING) for row in rows] == [
        ("3_Answer1 extractive", True),
        ("3_Answer1 abstractive", True),
        ("all extractive", False),
        ("all abstractive", False),
    ]


def changed(value: Json, number: int, **fields: Any) -> Json:
    value = copy.deepcopy(value)
    value["steps"][number] |= fields
    return value


REFUSED: dict[str, tuple[Callable[[Json], Json], str, str]] = {
    "a chunk beyond its passage": (
        lambda v: changed(v, 2, chunks=[chunk("1_Answer10", 0, 5) | {"end": 99}]),
        "value.steps.2.chunks.0",
        "Chunk 1, 1_Answer10 from 0 to 99, is no part of .* 16 characters",
    ),
    "a quote that differs": (
        lambda v: changed(v, 2, chunks=[chunk("1_Answer10", 0, 5) | {"quote": "A spat"}]),
        "value.steps.2.chunks.0",
        "Chunk 1, 1_Answer10 from 0 to 5: the passage reads 'A spo', not 'A spat'",
    ),
    "a chunk of another passage": (
        lambda v: changed(v, 2, chunks=[chunk("1_Answer2", 0, 6)], text="Spots:"),
        "value.steps.2.chunks.0",
        "this passage is not summarised here",
    ),
    "chunks that overlap": (
        lambda v: changed(v, 4, chunks=[chunk("1_Answer10", 2, 6), chunk("1_Answer10", 0, 3)]),
        "value.steps.4.chunks.0",
        "overlaps chunk 2 in 1_Answer10, 2 to 3",
    ),
    "a text that is not its chunks": (
        lambda v: changed(v, 2, text="A spot may fade"),
        "value.steps.2.text",
        "differs from its chunks",
    ),
    "a text over the limit": (lambda v: changed(v, 1, text="a b c d e f"), "value.steps.1.text", "6 words; at most 5"),
    "a missing text": (lambda v: {"steps": v["steps"][1:]}, "value.steps", "Not done yet: 1_Answer2, extractive"),
    "a text that is not asked": (
        lambda v: changed(v, 0, passage="3_Answer1", chunks=[chunk("3_Answer1", 0, 2)], text="It"),
        "value.steps.0",
        "does not ask",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("case", REFUSED)
def test_refuses_with_the_position(project: Project, people: list[Member], case: str) -> None:
    change, field, message = REFUSED[case]
    round = open_writing(project, people, limit_passage_abstractive=5, limits_refuse=True)
    slot = round.assignments.filter(unit__key="1").select_related("unit", "round")[0]
    value = written(card_of(slot))
    kinds.get(KIND).check(slot, value)
    with pytest.raises(Refused, match=message) as refused:
        kinds.get(KIND).check(slot, change(value))
    assert refused.value.errors[0]["field"] == field


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"text": " "}, "nothing is relevant"),
        ({"nothing": True, "text": "x"}, "must be empty"),
        ({"form": "abstractive", "text": "A", "chunks": [chunk("1_Answer2", 0, 1)]}, "no chunks"),
        ({"text": "A"}, "consists of chunks"),
        ({"nothing": True}, "applies to both forms"),
    ],
)
def test_refuses_a_value_without_sense(step: Json, message: str) -> None:
    base = {"passage": "1_Answer2", "form": "extractive", "text": "", "chunks": [], "nothing": False}
    other = base | {"form": "abstractive", "text": "B"} if message.startswith("applies") else {}
    serializer = WriteValueSerializer(data={"steps": [base | step, *([other] if other else [])]})
    assert not serializer.is_valid()
    assert message in str(serializer.errors)


@given(st.text("ab \U0001f600\n", max_size=12), st.data())
def test_chunks_are_accepted_exactly_if_they_quote_the_passage(text: str, data: st.DataObject) -> None:
    bounds = st.integers(0, len(text) + 1)
    ranges = data.draw(st.lists(st.tuples(bounds, bounds), min_size=1, max_size=3))
    quotes = [text[a:b] if data.draw(st.booleans()) else data.draw(st.text("ab ", max_size=3)) for a, b in ranges]
    chunks = [
        {"passage": "p", "start": a, "end": b, "quote": quote} for (a, b), quote in zip(ranges, quotes, strict=True)
    ]
    step = {"passage": "", "form": "extractive", "text": " ".join(quotes), "chunks": chunks, "nothing": False}
    good = all(0 <= a < b <= len(text) and text[a:b] == quote for (a, b), quote in zip(ranges, quotes, strict=True))
    characters = [n for a, b in ranges for n in range(a, b)]
    good = good and len(characters) == len(set(characters))
    try:
        check_steps({"steps": [step]}, {"p": text}, {"summary_types": ["all extractive"]})
    except Problem:
        assert not good
    else:
        assert good


@pytest.mark.django_db
@pytest.mark.engine
def test_a_closed_round_keeps_every_text_of_every_writer(project: Project, people: list[Member]) -> None:
    imported = WrittenSummary.objects.count()
    round = open_writing(project, people)
    for number, person in enumerate(people):
        write(round, person, words=f"by {number}", nothing="3_Answer1")
    close_round(round=round, by=None)
    for _ in range(2):
        finish_round(round=round, by=None)
    own = WrittenSummary.objects.current().exclude(author=None)
    assert own.count() == 2 * (6 + 4)
    assert WrittenSummary.objects.count() == imported + 20
    assert not Decision.objects.exists()
    texts = own.filter(question__key="1", passage=None, form="abstractive")
    assert {(one.author, one.text, one.unit.made_by) for one in texts} == {
        (person.user, f"About all, by {n}.", person.user) for n, person in enumerate(people)
    }
    empty = own.filter(passage__key="3_Answer1")
    assert {(one.text, tuple(one.chunks)) for one in empty} == {("", ())}
    extractive = own.filter(passage__key="1_Answer10", form="extractive")[0]
    [[text, start, end]] = extractive.chunks
    assert QuestionText.objects.get(pk=text).text[start:end] == extractive.text

    again = build_round(project, people[:1], name="again", kind=KIND, purpose="collection", overlap=1)
    write(again, people[0], words="again")
    close_round(round=again, by=None)
    finish_round(round=again, by=None)
    both = own.filter(question__key="1", passage=None, form="abstractive", author=people[0].user)
    assert sorted(both.values_list("version", "text")) == [(1, "About all, by 0."), (2, "About all, again.")]
    assert Unit.objects.filter(type="written summary", superseded_by__isnull=False).count() == 0


@pytest.mark.django_db
def test_an_assignment_stays_with_its_writer_for_weeks(project: Project, people: list[Member]) -> None:
    round = open_writing(project, people)
    [slot, *_] = next_assignments(user=people[0].user, round=round)
    assert slot.leased_until is not None
    assert (slot.leased_until - round.opened_at).days >= 27


@pytest.mark.django_db
def test_an_unfinished_question_of_someone_who_left_is_shown_to_the_lead(
    project: Project, people: list[Member], lead: User
) -> None:
    plan = {"name": "Writing", "kind": KIND, "purpose": "collection", "overlap": 1}
    round = build_round(project, people, **plan)
    first, second = next_assignments(user=people[0].user, round=round)
    answer(people[0].user, first, written(card_of(first)), kind=KIND)

    def unfinished(after: timedelta = timedelta()) -> list[tuple[str, str]]:
        member = Member.objects.get(project=project, user=lead)
        rows = overview(member, now=timezone.now() + after)["unfinished"]
        return [(row["person"], row["key"]) for row in rows]

    assert unfinished() == []
    left = people[0].name or people[0].pseudonym
    assert unfinished(timedelta(days=29)) == [(left, second.unit.key)], "nobody came back for four weeks"
    remove_person(round=round, member=people[0], by=lead)
    assert unfinished() == [(left, second.unit.key)]
    write(round, people[1])
    assert unfinished() == []


@pytest.mark.django_db
def test_cards_take_the_same_number_of_queries_for_any_number(
    project: Project, people: list[Member], django_assert_num_queries: Callable[..., Any]
) -> None:
    round = open_writing(project, people)
    kind = kinds.get(KIND)
    slots = list(round.assignments.select_related("unit"))
    assert len(slots) == 4
    for some in (slots[:1], slots):
        with django_assert_num_queries(3):
            batch = kind.load(some, round)
            assert all(kind.card(one, batch, round)["passages"] for one in some)
