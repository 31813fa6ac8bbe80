"""The sample corpus: in M3's published format, with the peculiarities of real data."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command, get_commands

import annotation
from annotation.formats.m3 import existing
from annotation.formats.m3.notices import ABSENT, AMBIGUOUS, GAP, OTHER_CASE, RELATION, SPELLING
from annotation.formats.m3.records import as_published
from annotation.models import Cluster, Cue, DiscourseLabel, Label, PicoElement, Proposition
from measures import spans
from projects.models import Import, Project
from projects.uploads.files import Source
from tests.annotation.m3_files import as_bytes, import_records

SAMPLE = Path(annotation.__file__).parent / "sample" / "level3.jsonl"
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def imported(project: Project) -> Import:
    [made] = import_records(project, Source.of(SAMPLE))
    return made


def texts() -> list[str]:
    return [text for r in RECORDS for text in (r["target_text"], *(s["source_text"] for s in r["input_studies"]))]


def test_the_importer_finds_only_planted_warnings_in_the_sample(imported: Import) -> None:
    totals = imported.report["totals"]
    assert set(totals) == {ABSENT, OTHER_CASE, AMBIGUOUS}
    assert totals[ABSENT] >= 2
    assert not {GAP, RELATION, SPELLING} & set(totals)
    assert imported.counts["clusters"] == Cluster.objects.count() == len(RECORDS) >= 12


def test_every_line_is_spelled_as_the_published_files_are() -> None:
    assert as_bytes(RECORDS) == SAMPLE.read_bytes()


def test_clusters_have_three_to_six_inputs_and_reviews_are_numbered_without_a_gap() -> None:
    numbers = defaultdict(list)
    for record in RECORDS:
        review, number = record["docid"].split("_")
        numbers[review].append(int(number))
        assert 3 <= len(record["input_studies"]) <= 6
    assert len(numbers) == 5
    assert all(found == list(range(len(found))) for found in numbers.values())


def test_ids_are_outside_the_range_of_real_ones() -> None:
    ids = [r["docid"].split("_")[0] for r in RECORDS] + [s["source_pmid"] for r in RECORDS for s in r["input_studies"]]
    assert all(90_000_000 < int(pmid) < 90_001_000 for pmid in ids)


def test_sentences_have_the_length_of_those_in_abstracts() -> None:
    lengths = [len(text.split()) for text in texts()]
    assert 9 < min(lengths) < 15
    assert 40 < max(lengths) <= 45


def test_the_sample_has_every_label_value(imported: Import) -> None:
    assert set(Label.objects.values_list("polarity", flat=True)) == {"positive", "negative", "no effect", "n/a"}
    assert set(Label.objects.values_list("modality", flat=True)) == {"strong", "moderate", "weak", "no evidence"}
    assert Label.objects.filter(modality="no evidence", polarity="n/a").count() >= 2
    assert set(DiscourseLabel.objects.values_list("relation", flat=True)) == {"agreement", "contradiction"}
    forms = {"explicit", "reworded", "implied", "partly implied", "blank"}
    assert set(PicoElement.objects.values_list("form", flat=True)) == forms


def test_most_moderate_claims_have_no_modality_cue_and_every_polarity_has_one(imported: Import) -> None:
    moderate = Label.objects.filter(modality="moderate")
    shown = Cue.objects.filter(label__in=moderate, aspect=Cue.Aspect.MODALITY).count()
    assert 0 < shown < moderate.count() / 2
    claims = Label.objects.exclude(polarity="n/a")
    assert Cue.objects.filter(aspect=Cue.Aspect.POLARITY).count() == claims.count()


def test_cues_that_the_importer_cannot_place_are_in_pieces_that_all_occur_in_order(imported: Import) -> None:
    absent = Cue.objects.filter(found="absent").select_related("label__unit__proposition")
    assert len(absent) >= 2
    for cue in absent:
        text, at = cue.label.unit.proposition.text, 0
        for word in cue.text.split():
            at = text.index(word, at) + len(word)


def test_the_sample_has_a_shared_cue_and_a_cue_that_overlaps_the_outcome() -> None:
    assert any(r["target_direction_span"] and r["target_direction_span"] == r["target_modality_span"] for r in RECORDS)

    def overlap(record: dict[str, Any]) -> bool:
        cue, outcome = (
            spans.locate(record["target_text"], quote).ranges
            for quote in (record["target_direction_span"], record["pico"]["o"])
        )
        return any(a < d and c < b for a, b in cue for c, d in outcome)

    assert any(overlap(record) for record in RECORDS)


def test_texts_have_letters_beyond_ascii_and_beyond_sixteen_bits() -> None:
    letters = set("".join(texts()))
    assert {"®", "β", "é"} <= letters
    assert any(ord(letter) > 0xFFFF for letter in letters)


def test_the_imported_sample_gives_its_file_byte_for_byte(imported: Import, project: Project) -> None:
    docids = list(Cluster.objects.order_by("position").values_list("key", flat=True))
    stored = existing.stored_items(project, "3", docids)
    assert as_bytes(as_published(stored[docid]) for docid in docids) == SAMPLE.read_bytes()
    assert set(texts()) == set(Proposition.objects.values_list("text", flat=True))


@pytest.mark.skipif("release" not in get_commands(), reason="there is no command `release` yet")
@pytest.mark.django_db(transaction=True)
def test_the_released_sample_equals_its_file_byte_for_byte(imported: Import, project: Project, tmp_path: Path) -> None:
    call_command("release", "--project", project.slug, "--version", "1.0.0", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "m3" / "level3.jsonl").read_bytes() == SAMPLE.read_bytes()
