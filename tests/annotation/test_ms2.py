"""MS^2: what a file says becomes rows, and comes back byte for byte; a faulty file is refused as a whole."""

import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import User
from annotation.formats.ms2 import published
from annotation.imports import passes
from annotation.imports.withdrawal import ORDER
from annotation.models import (
    SENTENCE_CLASSES,
    Effect,
    EffectPair,
    Inclusion,
    Input,
    Level,
    MachineReading,
    ReadingTask,
    Review,
    Sentence,
    Study,
    Target,
)
from measures.pio import untag
from projects.curation.actions import correct
from projects.gold.queries import current_values
from projects.models import Decision, Member, Project
from projects.people.actions import create_project
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.uploads.faults import BadFiles
from projects.uploads.files import Source
from releases.formats import abstracts
from releases.formats import ms2 as ms2_format
from releases.formats.notes import Notes
from tests.annotation import ms2_files
from tests.annotation.ms2_files import (
    SENTENCES,
    as_bytes,
    checked,
    effect,
    import_records,
    reference,
    review,
    sentence,
    study,
    write,
)
from tests.builders import build_round

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def project() -> Project:
    return create_project(slug="ms2", name="MS^2", by=None)


def released(project: Project) -> bytes:
    return as_bytes(published.published(list(published.of_format(project))))


def with_keys_in(order: list[str], value: dict[str, Any]) -> dict[str, Any]:
    return {key: value[key] for key in order}


REFERENCE = reference("31")
#: Reviews with a property that the sample does not have.
UNUSUAL: dict[str, Callable[[], dict[str, Any]]] = {
    "as usual": review,
    "no effects": lambda: review(significances=None),
    "an empty list of effects": lambda: review(significances=[]),
    "no title": lambda: review(title=None),
    "a PMID as text": lambda: review() | {"pmid": "7"},
    "no PMID": lambda: review() | {"pmid": None},
    "authors, a DOI and an unknown field": lambda: review(authors="Doe, J.", doi="10.1/x", more={"b": 1, "a": [2.5]}),
    "keys in another order": lambda: with_keys_in(sorted(review()), review()),
    "another list of quotes": lambda: review(interventions=["drug"]),
    "excluded studies": lambda: review(excluded_studies=[study(reference("77"))]),
    "tags at both ends": lambda: review(sentences=[sentence("EFFECT", "<int> Drug A helps </int>")]),
    "only sentences without tags": lambda: review(sentences=[sentence("EFFECT", "It helps .")], interventions=[]),
    "a sentence that ends with its tag": lambda: review(
        sentences=[sentence("GOAL", "Of <pop> adults </pop>"), sentence("EFFECT", "<int> A </int> helps")]
    ),
    "other sentences than the abstract": lambda: review(abstract="Another <int> text </int> ."),
    "a study without an abstract": lambda: review(included_studies=[study(reference("11", None, significances=None))]),
    "a study with other fields": lambda: review(included_studies=[study(pmid="12", doi="10.1/y")]),
    "a study with keys in another order": lambda: review(
        included_studies=[study(with_keys_in(sorted(REFERENCE), REFERENCE))]
    ),
    "a study with another kind of metadata": lambda: review(
        general_references=[reference("22", metadata={"SO": "x", "AU": ["Doe"], "YEAR": None})]
    ),
    "a study without a year": lambda: review(
        general_references=[reference("22", metadata={"YEAR": None, "SO": None, "AU": ["Doe"]})]
    ),
    "a study without a PMID": lambda: review(general_references=[reference("", s2id=5)]),
    "a study that is listed twice": lambda: review(
        included_studies=[study(), study(reference("12")), study()], general_references=[reference("12")]
    ),
    "evidence with other blanks": lambda: review(
        general_references=[reference("22", significances=[effect("x", "y", "Adults  had less pain .")])]
    ),
    "evidence that does not occur": lambda: review(
        general_references=[reference("22", significances=[effect("x", "y", "Nothing like it.")])]
    ),
    "characters of other scripts": lambda: review(title="β-Drug \U0001d6fd \u2265", authors="Žižek"),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_a_review_comes_back_byte_for_byte(project: Project, tmp_path: Path, name: str) -> None:
    record = UNUSUAL[name]()
    import_records(project, write(tmp_path / "a.jsonl", [record]))
    assert released(project) == as_bytes([record])


@ms2_files.published
def test_the_sample_has_the_published_counts_and_comes_back_byte_for_byte(project: Project, tmp_path: Path) -> None:
    imported = import_records(project, Source.of(ms2_files.SAMPLE))
    assert {key: imported.counts[key] for key in imported.counts if key not in ("items", "new", "unchanged")} == {
        "reviews": 1,
        "studies": 35,
        "included studies": 20,
        "general references": 15,
        "references without abstract": 1,
        "targets": 1,
        "sentences": 12,
        "spans": 681,
        "pairs": 27,
        "effects": 945,
    }
    effects = Effect.objects.all()
    of_review = dict(effects.filter(reading__review__isnull=False).values_list("pair", "direction"))
    included = effects.filter(reading__inclusion__role="included")
    general = effects.filter(reading__inclusion__role="general")
    assert (len(of_review), included.count(), general.count()) == (27, 540, 378)
    assert sum(of_review[pair] == direction for pair, direction in included.values_list("pair", "direction")) == 293
    assert not included.filter(score__gte=0.05).exists()
    [value] = published.published(list(published.of_format(project)))
    assert json.dumps(value, indent=4).encode() + b"\n" == ms2_files.SAMPLE.read_bytes()


def test_texts_are_stored_without_tags_and_a_target_is_what_the_review_found(project: Project, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "a.jsonl", [review()]))
    [target] = Target.objects.all()
    assert (target.level, target.text) == (Level.DOCUMENT, "Drug A lowers pain\nDeath is not affected .")
    assert "<" not in Review.objects.get().abstract + "".join(Study.objects.values_list("abstract", flat=True))
    assert list(Input.objects.with_source_text().values_list("study__pmid", "source_text")) == [
        ("11", "Adults had less pain .")
    ]
    assert list(Inclusion.objects.values_list("study__pmid", "role", "position")) == [
        ("11", "included", 0),
        ("21", "general", 1),
    ]


def test_a_study_of_two_reviews_keeps_the_effects_that_each_asks_about(project: Project, tmp_path: Path) -> None:
    text = reference()["abstract"]
    second = study(
        reference(
            "11",
            text.replace("<pop> Adults </pop>", "<int> Adults </int>"),
            title="Another title",
            significances=[effect("drug b", "sleep", "Adults had less pain .", 2)],
        )
    )
    records = [
        review(7),
        review(8, included_studies=[second], significances=None),
        review(9, included_studies=[study()]),
    ]
    import_records(project, write(tmp_path / "a.jsonl", records[:2]), write(tmp_path / "b.jsonl", records[2:]))
    of_study = Effect.objects.filter(reading__inclusion__study__pmid="11")
    asked = of_study.values_list("reading__inclusion__review__pmid", "pair__intervention", "direction")
    assert list(asked.order_by("reading__inclusion__review_id", "position")) == [
        ("7", "drug a", "decreased"),
        ("7", "drug a", "no difference"),
        ("8", "drug b", "increased"),
        ("9", "drug a", "decreased"),
        ("9", "drug a", "no difference"),
    ]
    assert released(project) == as_bytes(records)


@pytest.mark.parametrize("in_first", [True, False])
def test_an_abstract_that_one_review_omits_is_that_of_the_other(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_first: bool
) -> None:
    monkeypatch.setattr(passes, "MOST_ROWS", 1)
    bare = study(reference("11", None))
    records = [review(7, included_studies=[bare]), review(8)]
    if in_first:
        records.reverse()
    import_records(project, write(tmp_path / "a.jsonl", records))
    assert Study.objects.get(pmid="11").abstract == "Adults had less pain ."
    assert released(project) == as_bytes(records)


def test_the_same_review_again_changes_nothing_and_another_content_is_refused(project: Project, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "a.jsonl", [review(7)]))
    imported = import_records(project, write(tmp_path / "b.jsonl", [review(7), review(8)]))
    assert (imported.counts["new"], imported.counts["unchanged"], Review.objects.count()) == (1, 1, 2)
    changed = copy.deepcopy(review(7))
    changed["general_references"][0]["significances"][1]["evidence_sentence_score"] = 0.75
    with pytest.raises(BadFiles) as refused:
        import_records(project, write(tmp_path / "c.jsonl", [changed]))
    [fault] = refused.value.faults
    assert fault.field == "general_references[0].significances[1].evidence_sentence_score"
    assert fault.message == "the project has 7 with different content: 0.25"


def spoiled(path: str, value: Any) -> dict[str, Any]:
    """Return a review in which the value at a path is another one."""
    record: Any = copy.deepcopy(review())
    *steps, last = [
        int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")
    ]
    at = record
    for step in steps:
        at = at[step]
    at[last] = value
    return record  # type: ignore[no-any-return]


FAULTS = [
    ("structured_abstract[1][0]", "AIM", "expected one of BACKGROUND"),
    ("structured_abstract[1][2]", {**SENTENCES[0][2], "AIM": 0.0}, 'unknown class "AIM"'),
    ("structured_abstract[1][2]", dict.fromkeys(SENTENCE_CLASSES, 0.2), "the probabilities sum to 1.8"),
    ("significances[1].classification", dict.fromkeys(ms2_files.DIRECTIONS, 0.5), "sum to 1.5; expected 1, plus or"),
    ("significances[1].evidence_sentence_score", 2.5, "expected a number from 0.0 to 1.0"),
    ("significances[1].intervention", None, "expected a string, found null"),
    ("general_references[0].pmid", None, ""),
    ("included_studies[0].references", [], "expected a list of one reference, found a list of 0"),
    ("included_studies[0].references[0].abstract", 5, "expected a string or null, found the number 5"),
    ("general_references", None, "expected a list, found null"),
    ("title", "a\ud800", "half a surrogate pair"),
    ("docid", None, "expected a string, found null"),
]


@pytest.mark.parametrize(("path", "value", "said"), FAULTS)
def test_a_fault_is_reported_by_line_and_field_and_nothing_is_written(
    project: Project, tmp_path: Path, path: str, value: Any, said: str
) -> None:
    record = spoiled(path, value)
    if path.endswith("references[0].pmid"):
        record["general_references"][0]["s2id"] = None
        said = "expected a PMID or an s2id, found null"
    source = write(tmp_path / "a.jsonl", [review(8), record])
    with pytest.raises(BadFiles) as refused:
        import_records(project, source)
    assert [(fault.line, fault.field) for fault in refused.value.faults] == [(2, path)]
    assert said in next(iter(refused.value.faults)).message
    assert [(f.line, f.field) for f in checked(None, source).faults] == [(2, path)]
    assert not any(model.objects.exists() for model in (Review, Study, MachineReading, EffectPair, Effect))


@pytest.mark.parametrize("at_once", [True, False])
def test_two_abstracts_of_one_study_are_refused(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    if not at_once:
        monkeypatch.setattr(passes, "MOST_ROWS", 1)
    other = review(8, included_studies=[study(reference("11", "Another text ."))])
    source = write(tmp_path / "a.jsonl", [review(7), other])
    expected = [(2, "included_studies[0].references[0].abstract", "the study 11 already has another abstract")]
    assert [(f.line, f.field, f.message) for f in checked(None, source).faults] == expected
    with pytest.raises(BadFiles) as refused:
        import_records(project, source)
    assert [(f.line, f.field, f.message) for f in refused.value.faults] == expected
    assert not Review.with_arriving.exists()


def test_a_review_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", [review(7), review(7)])
    assert [(f.line, f.field, f.message) for f in checked(None, source).faults] == [
        (2, "pmid", 'line 1 already has "7"')
    ]


def test_unusual_content_is_imported_with_warnings(project: Project, tmp_path: Path) -> None:
    records = [
        review(1, sentences=[sentence("METHODS", "A <pop> text .")]),
        review(2, abstract="Another text ."),
        UNUSUAL["a study that is listed twice"](),
        review(4, general_references=[reference("22", significances=[effect("x", "y", "Nothing like it.")])]),
    ]
    imported = import_records(project, write(tmp_path / "a.jsonl", records))
    found = {(warning.kind, warning.item, warning.place) for warning in imported.warnings.all()}
    assert {
        ("unpaired tag", "1", "abstract"),
        ("no target", "1", "abstract"),
        ("sentences differ", "2", "abstract"),
        ("repeated study", "7", "input 3"),
        ("evidence not found", "4", "input 2"),
    } <= found
    assert set(Target.objects.values_list("key", flat=True)) == {"2", "4", "7"}


def test_an_indented_object_is_read_and_its_faults_have_lines(project: Project, tmp_path: Path) -> None:
    text = json.dumps(review(), indent=4) + "\n"
    import_records(project, write(tmp_path / "a.json", text.encode()))
    assert released(project) == as_bytes([review()])
    broken = text.replace('"doi": null,', '"doi": nothing,', 1).encode()
    line = 1 + broken[: broken.index(b"nothing")].count(b"\n")
    [fault] = checked(None, write(tmp_path / "b.json", broken)).faults
    assert (fault.line, fault.message[:8]) == (line, "not JSON")


def test_an_import_in_small_batches_is_the_same_and_can_be_withdrawn(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "MOST_ROWS", 1)
    records = [review(number) for number in range(1, 6)]
    import_records(project, write(tmp_path / "a.jsonl", records))
    assert released(project) == as_bytes(records)
    before = Counter({model: model._base_manager.count() for model, _ in ORDER})
    with pytest.raises(BadFiles):
        import_records(project, write(tmp_path / "b.jsonl", [review(8), review(9), spoiled("docid", None)]))
    assert Counter({model: model._base_manager.count() for model, _ in ORDER}) == before


def test_the_database_refuses_readings_that_cannot_be(project: Project, tmp_path: Path) -> None:
    imported = import_records(project, write(tmp_path / "a.jsonl", [review()]))
    of: dict[str, Any] = {"study": Study.objects.first(), "imported": imported}
    wrong: list[dict[str, Any]] = [
        {"task": ReadingTask.EFFECTS, "weights": "ab", **of},
        {"task": ReadingTask.PIO, "weights": "ab", "imported": imported},
        {"task": ReadingTask.PIO, "weights": "ab", "review": Review.objects.first(), **of},
        {"task": ReadingTask.PIO, "weights": "ab", "study": Study.objects.first()},
        {"task": ReadingTask.PIO, **of},
    ]
    for fields in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            MachineReading.objects.create(**fields)
    MachineReading.objects.create(task=ReadingTask.PIO, weights="ab", **of)
    with pytest.raises(IntegrityError), transaction.atomic():
        Target.objects.update(is_withheld=True)


def classes(labels: list[str]) -> dict[str, Any]:
    return {"sentence_classes": [{"number": n, "said": label} for n, label in enumerate(labels, start=1)]}


@pytest.mark.parametrize("of_sample", [False, pytest.param(True, marks=ms2_files.published)])
def test_a_sentence_that_a_person_relabels_changes_its_label_and_the_derived_texts_only(
    lead: User, tmp_path: Path, of_sample: bool
) -> None:
    project = create_project(slug="ms2", name="MS^2", by=lead)
    import_records(project, Source.of(ms2_files.SAMPLE) if of_sample else write(tmp_path / "a.jsonl", [review()]))
    [(path, lines)] = ms2_format.files(project, Notes())
    [before] = map(json.loads, lines)
    labels = [label for label, *_ in before["structured_abstract"]]
    last = len(labels) - 1
    labels[last] = "ETC"
    unit = Review.objects.get().unit
    by = Member.objects.get(project=project, user=lead)
    correct(unit=unit, kind="sentences", value=classes(labels), reason="A wrong class.", by=by)
    [(path, lines)] = ms2_format.files(project, Notes())
    [after] = map(json.loads, lines)
    assert path == "ms2/reviews.jsonl"
    assert published.first_difference(before, after) == (f"structured_abstract[{last}][0]", "ETC")
    after["structured_abstract"][last][0] = "EFFECT"
    assert json.dumps(after) == json.dumps(before)
    derived = {path: list(map(json.loads, lines)) for path, lines in abstracts.files(project, Notes())}
    texts = [untag(text)[0] for _, text, _ in before["structured_abstract"]]
    [row] = derived["abstracts/derived.jsonl"]
    targets = [text for text, label in zip(texts, labels, strict=True) if label == "EFFECT"]
    assert row["target"] == "\n".join(targets)


def test_a_model_class_becomes_a_decision_when_a_correction_round_first_needs_it(lead: User, tmp_path: Path) -> None:
    project = create_project(slug="ms2", name="MS^2", by=lead)
    import_records(project, write(tmp_path / "a.jsonl", [review(7), review(8, abstract="Another text .")]))
    assert not Decision.objects.exists()
    assert not Sentence.objects.exists()
    by = Member.objects.get(project=project, user=lead)
    options = {"sentence_task": "sentence_classes"}
    round = build_round(project, [by], kind="sentences", purpose="review and correct", overlap=1, options=options)
    # The sentences of the other review are not those of its abstract.
    [decision] = Decision.objects.all()
    assert (decision.origin, decision.unit.key, decision.field) == ("machine", "7", "sentence_classes")
    [slot] = next_assignments(user=lead, round=round)
    [card] = cards(round, [slot])
    assert [(one["number"], one["text"]) for one in card["sentences"]][3:] == [
        (4, "Drug A lowers pain"),
        (5, "Death is not affected ."),
    ]
    shown = current_values([slot.unit], "sentences")[slot.unit_id]
    assert shown == classes(["BACKGROUND", "GOAL", "METHODS", "EFFECT", "EFFECT"])
    assert released(project) == as_bytes([review(7), review(8, abstract="Another text .")])
