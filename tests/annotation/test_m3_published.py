"""The published level 3: its counts and the peculiarities of single items."""

import json
from collections import Counter
from pathlib import Path

import pytest

from annotation.clusters.gold import gold_labels, gold_relations
from annotation.corpus.statistics import summary, table
from annotation.formats.m3 import existing
from annotation.formats.m3.records import as_published
from annotation.models import Cluster, Cue, PicoElement, PicoFragment, Proposition, Review, Study
from projects.models import Import, Project, Unit
from tests.annotation.m3_files import LEVEL3, as_bytes, checked, import_records, published, write

pytestmark = [published, pytest.mark.django_db]


@pytest.fixture(scope="module")
def content() -> bytes:
    return LEVEL3.read_bytes()


@pytest.fixture(scope="module")
def brought(shared_rows: None, content: bytes, tmp_path_factory: pytest.TempPathFactory) -> Import:
    project = Project.objects.create(slug="eye", name="Eye")
    [made] = import_records(project, write(tmp_path_factory.mktemp("m3") / "file.jsonl", content))
    return made


@pytest.fixture
def imported(brought: Import, db: None) -> Import:
    """Imported once for all tests; changes of a test are rolled back."""
    return Import.objects.get(pk=brought.pk)


def test_the_published_file_is_imported_completely_and_rebuilt_byte_for_byte(imported: Import, content: bytes) -> None:
    project = imported.project
    assert (Cluster.objects.count(), Proposition.objects.count(), Review.objects.count(), Study.objects.count()) == (
        381,
        2292,
        229,
        1223,
    )
    assert imported.counts["inputs"] == 1911
    docids = list(Cluster.objects.filter(project=project).order_by("position").values_list("key", flat=True))
    stored = existing.stored_items(project, "3", docids)
    assert as_bytes(as_published(stored[docid]) for docid in docids) == content


def test_cues_that_are_absent_but_for_case_or_ambiguous_are_named_by_item(imported: Import) -> None:
    notices = imported.warnings.values()
    by_kind = {kind: [n for n in notices if n["kind"] == kind] for kind in imported.report["totals"]}
    fields = {kind: Counter(n["field"] for n in found) for kind, found in by_kind.items()}
    assert fields["cue absent"] == {"target_direction_span": 2, "source_modality_span": 14, "source_direction_span": 22}
    assert fields["cue differs in case"] == {
        "target_modality_span": 6,
        "target_direction_span": 6,
        "source_modality_span": 31,
        "source_direction_span": 91,
    }
    assert fields["cue occurs more than once"] == {
        "target_modality_span": 5,
        "target_direction_span": 11,
        "source_modality_span": 15,
        "source_direction_span": 45,
    }
    assert all(
        n["item"] and n["place"] and n["text"] for kind in fields if kind.startswith("cue") for n in by_kind[kind]
    )
    assert Counter(Cue.objects.values_list("found", flat=True)) == {"exact": 2908, "case": 134, "absent": 38}
    assert Cue.objects.filter(occurrences__gt=1).count() == 76


def test_odd_rows_are_named(imported: Import) -> None:
    def items(kind: str, place: str | None = None) -> list[str]:
        return [n["item"] for n in imported.warnings.values() if n["kind"] == kind and place in (None, n["place"])]

    assert items("modality other than moderate without a cue", "target") == ["27196321_1", "30320466_2", "26477843_2"]
    assert items("polarity without a cue") == ["29339646_1", "30320466_2", "24034151_0", "29669176_1", "22793880_0"]
    assert items("n/a with a polarity cue") == items('literal "n/a" as a cue') == ["20222888_2"]
    assert items("relation against the rule") == ["27096529_0", "31626152_1"]
    assert len(items("cue begins or ends in a space")) == 4
    assert len(items("PICO element begins or ends in a space")) == 5


def test_pico_elements_have_the_published_counts_of_forms(imported: Import) -> None:
    counts = Counter(PicoElement.objects.values_list("element", "form"))
    assert [counts[s, "blank"] for s in "pico"] == [254, 0, 232, 6]
    assert [counts[s, "implied"] for s in "pico"] == [12, 17, 5, 8]
    # Eight interventions contain a bracket beside other text; "rs4236601[A]" is an allele that the target contains.
    assert [counts[s, "partly implied"] for s in "pico"] == [0, 7, 4, 7]
    # One outcome says "SSAE" where the target says "SSAEs"; part of a word is no match.
    assert [counts[s, "reworded"] for s in "pico"] == [0, 5, 4, 14]
    assert PicoFragment.objects.count() == sum(n for (_, form), n in counts.items() if form == "explicit")


def test_gold_is_what_was_published_in_a_fixed_number_of_queries(
    imported: Import, content: bytes, django_assert_num_queries: object
) -> None:
    units = Unit.objects.filter(project=imported.project).values_list("pk", flat=True)
    with django_assert_num_queries(4):  # type: ignore[operator]
        labels = gold_labels(units)
    with django_assert_num_queries(2):  # type: ignore[operator]
        relations = gold_relations(units)
    assert (len(labels), len(relations)) == (2292, 381)
    record = json.loads(content.splitlines()[0])
    proposition = Proposition.objects.get(unit__key=f"{record['docid']}/1")
    first = labels[proposition.unit_id]
    assert first["polarity"].value == record["input_studies"][0]["source_direction"]
    assert first["modality_cue"].value.text == record["input_studies"][0]["source_modality_span"]  # type: ignore[union-attr]


def test_the_numbers_are_those_of_the_paper_as_computed(imported: Import) -> None:
    [row] = table(imported.project)
    assert (row["targets"], row["inputs"], row["reviews"], row["studies"]) == (381, 1911, 229, 1223)
    assert round(row["inputs_per_target"], 2) == 5.02
    assert round(row["compression"], 2) == 6.09
    values = {
        name: {c["value"]: c["count"] for c in counts} for name, counts in summary(imported.project)["values"].items()
    }
    assert values["target_modality"] == {"strong": 16, "moderate": 239, "weak": 103, "no evidence": 23}
    assert values["input_polarity"] == {"positive": 701, "no effect": 611, "negative": 595, "n/a": 4}
    assert values["relation"] == {"agreement": 185, "contradiction": 196}


def test_importing_the_same_file_again_changes_nothing(imported: Import, file: Path, content: bytes) -> None:
    units = Unit.objects.count()
    assert import_records(imported.project, write(file, content)) == []
    assert Unit.objects.count() == units


def test_a_copy_with_one_label_edited_is_refused_on_that_line_only(
    imported: Import, file: Path, content: bytes
) -> None:
    lines = content.splitlines(keepends=True)
    record = json.loads(lines[99])
    record["target_modality"] = "weak" if record["target_modality"] != "weak" else "moderate"
    lines[99] = as_bytes([record])
    found = checked(imported.project, write(file, b"".join(lines)))
    assert [(f.line, f.field) for f in found.faults] == [(100, "target_modality")]
