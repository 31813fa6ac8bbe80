"""Spans and effects that people have decided, in MS^2's released reviews."""

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from annotation.models import Review, Study
from measures.pio import parse_pio
from projects.gold.actions import finish_round
from projects.models import Member, Project, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.formats import ms2
from releases.formats.notes import Notes
from tests.annotation.ms2_files import DIRECTIONS, import_records, review, write
from tests.builders import answer, build_round

pytestmark = pytest.mark.django_db


FIELDS = {"pop": "population_spans", "int": "intervention_spans", "out": "outcome_spans"}


def released(project: Project) -> dict[str, Any]:
    [(_, lines)] = ms2.files(project, Notes())
    [value] = [json.loads(line) for line in lines]
    return dict(value)


def test_only_the_tags_of_changed_spans_change(project: Project, lead: User, ann1: User, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "reviews.jsonl", [review()]))
    before = released(project)
    member = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [member], kind="entity", options={"abstracts": "both"})
    texts = {f"review {r.pmid}": r.abstract for r in Review.objects.filter(project=project)}
    texts |= {f"study {s.pmid}": s.abstract for s in Study.objects.filter(project=project)}
    while slots := next_assignments(user=ann1, round=round):
        slot = slots[0]
        text = texts[Unit.objects.get(pk=slot.unit_id).key]
        spans: dict[str, list[tuple[int, int]]] = {kind: [] for kind in FIELDS}
        for span in parse_pio(tagged_of(before, slot.unit.key)).spans:
            spans[span.kind].append(span.range)
        if slot.unit.key == "review 7":
            start = text.index("Trials")
            spans["pop"] = [(start, start + len("Trials"))]  # instead of "pain in adults"
        value = {
            field: [{"start": a, "end": b, "quote": text[a:b], "suggestion": ""} for a, b in spans[kind]]
            for kind, field in FIELDS.items()
        }
        answer(ann1, slot, value | {"rejected_spans": []}, kind="entity")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    after = released(project)
    assert after["populations"] == ["Trials"]
    assert parse_pio(after["abstract"]).text == parse_pio(before["abstract"]).text
    assert " ".join(text for _, text, _ in after["structured_abstract"]) == after["abstract"]
    assert "<pop> Trials </pop> were sought" in after["abstract"]
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"abstract", "structured_abstract", "populations"}, "confirmed spans of studies change nothing"
    pairs = zip(before["structured_abstract"], after["structured_abstract"], strict=True)
    assert [old == new for old, new in pairs] == [True, False, False, True, True]


def test_texts_with_nested_spans_of_one_element_are_named(
    project: Project, lead: User, ann1: User, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "reviews.jsonl", [review()]))
    member = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [member], kind="entity", options={"abstracts": "both"})
    while slots := next_assignments(user=ann1, round=round):
        of_review = slots[0].unit.key == "review 7"
        quotes = ("pain in adults", "adults") if of_review else ("Adults", "had less")
        text = Review.objects.get(project=project).abstract if of_review else "Adults had less pain ."
        ranges = [(text.index(quote), text.index(quote) + len(quote), quote) for quote in quotes]
        spans = [{"start": a, "end": b, "quote": quote, "suggestion": ""} for a, b, quote in ranges]
        value = {field: spans if field == FIELDS["pop"] else [] for field in FIELDS.values()}
        answer(ann1, slots[0], value | {"rejected_spans": []}, kind="entity")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    notes = Notes()
    [(_, lines)] = ms2.files(project, notes)
    list(lines)
    assert notes.counts[ms2.OVERLAPS] == ["review 7"]


def tagged_of(value: dict[str, Any], key: str) -> str:
    """Return the tagged abstract of a review or study by the key of its unit."""
    if key.startswith("review"):
        return str(value["abstract"])
    references = [entry["references"][0] for entry in value["included_studies"]] + value["general_references"]
    return next(str(one["abstract"]) for one in references if f"study {one['pmid']}" == key)


def test_a_decided_effect_has_probability_1_and_one_that_is_not_reported_is_left_out(
    project: Project, lead: User, ann1: User, tmp_path: Path
) -> None:
    import_records(project, write(tmp_path / "reviews.jsonl", [review()]))
    before = released(project)
    member = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [member], kind="effect", options={"effect_texts": "both"})
    said = {"7 pair 1": ("increased", 4), "7 pair 2": ("not reported", None), "7 pair 1 study 11": ("no difference", 1)}
    while slots := next_assignments(user=ann1, round=round):
        direction, sentence = said.get(slots[0].unit.key, ("not reported", None))
        value = {"effect_direction": direction, "effect_sentence": sentence, "suggestion": ""}
        answer(ann1, slots[0], value, kind="effect")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    after = released(project)
    [effect] = after["significances"]
    assert effect["classification"] == dict(zip(DIRECTIONS, (0, 0, 1), strict=True))
    assert (effect["evidence_sentence"], effect["evidence_sentence_score"]) == ("Drug A lowers pain", 1)
    [of_study] = after["included_studies"][0]["references"][0]["significances"]
    assert of_study["classification"] == dict(zip(DIRECTIONS, (0, 1, 0), strict=True))
    unchanged = {name for name in before if name not in ("significances", "included_studies")}
    assert all(before[name] == after[name] for name in unchanged)
