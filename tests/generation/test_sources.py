"""Inputs of summarisers: three levels, separate targets, a fixed number of queries."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Review
from generation.models import UnitLevel
from generation.sources import materials, sizes, units_of
from projects.models import Project
from tests.annotation.m3_files import Record, cluster, import_records, plain, source, write


def bring(project: Project, tmp_path: Path, level: str, *records: Record) -> None:
    import_records(project, write(tmp_path / f"{level}.jsonl", records), level=level[-1])


@pytest.fixture
def levels(project: Project, tmp_path: Path) -> Project:
    """One review at all three levels: a document with two propositions."""
    bring(project, tmp_path, "level1", plain("111", "It helps, and is safe.", ("1", "Trial one."), ("2", "Trial two.")))
    bring(project, tmp_path, "level2", plain("111_0", "It helps.", ("1", "One helped."), ("2", "Two helped.")))
    bring(
        project,
        tmp_path,
        "level3",
        cluster("111_0", [source("One helped.", "1")], target_text="It reduces relapse."),
        cluster("111_1", [source("One was safe.", "1"), source("Two hurt.", "2")], target_text="It reduces harm."),
    )
    return project


def test_the_material_of_a_cluster_has_its_inputs_studies_and_tuple(levels: Project) -> None:
    unit = units_of(levels, UnitLevel.PROPOSITION)[1]
    found = materials(levels, UnitLevel.PROPOSITION, [unit])[unit]
    assert [(text.text, text.key) for text in found.source.inputs] == [("One was safe.", "1"), ("Two hurt.", "2")]
    assert found.source.pico["i"] == "nepralin"
    assert [reference.text for reference in found.references] == ["It reduces harm."]


def test_a_target_sentence_is_its_inputs(levels: Project) -> None:
    (unit,) = units_of(levels, UnitLevel.SENTENCE)
    found = materials(levels, UnitLevel.SENTENCE, [unit])[unit]
    assert [text.text for text in found.source.inputs] == ["One helped.", "Two helped."]
    assert [reference.text for reference in found.references] == ["It helps."]


def test_a_document_is_judged_against_its_own_text_and_both_of_its_propositions(levels: Project) -> None:
    (unit,) = units_of(levels, UnitLevel.DOCUMENT)
    found = materials(levels, UnitLevel.DOCUMENT, [unit])[unit]
    assert [text.text for text in found.source.inputs] == ["Trial one.", "Trial two."]
    assert [r.text for r in found.references] == ["It helps, and is safe.", "It reduces relapse.", "It reduces harm."]
    assert len({reference.unit for reference in found.references}) == 3


@pytest.mark.parametrize("level", UnitLevel.values)
def test_the_background_is_that_of_the_reviews_abstract(levels: Project, level: str) -> None:
    abstract = "BACKGROUND: Does <int> nepralin </int> help? METHODS: We searched. RESULTS: It reduces relapse."
    Review.objects.filter(project=levels).update(abstract=abstract)
    for found in materials(levels, level, units_of(levels, level)).values():
        assert found.source.background == "BACKGROUND: Does <int> nepralin </int> help?"


@pytest.mark.parametrize("level", UnitLevel.values)
def test_no_summariser_is_shown_a_target(levels: Project, level: str) -> None:
    for found in materials(levels, level, units_of(levels, level)).values():
        shown = repr(found.source)
        assert not [reference.text for reference in found.references if reference.text in shown]


def test_sizes_count_the_characters_of_the_inputs(levels: Project) -> None:
    units = units_of(levels, UnitLevel.PROPOSITION)
    assert sizes(UnitLevel.PROPOSITION, units) == {
        units[0]: len("One helped."),
        units[1]: len("One was safe.") + len("Two hurt."),
    }


@pytest.mark.parametrize("level", UnitLevel.values)
def test_more_units_take_no_more_queries(levels: Project, level: str, tmp_path: Path) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            materials(levels, level, units_of(levels, level))
        return len(seen)

    before = queries()
    bring(levels, tmp_path, "level1", plain("222", "Not so.", ("3", "Trial three.")))
    bring(levels, tmp_path, "level2", plain("222_0", "Not so much.", ("3", "Three did not.")))
    bring(
        levels, tmp_path, "level3", cluster("222_0", [source("Three did reduce.", "3")], target_text="It reduces it.")
    )
    assert queries() == before
