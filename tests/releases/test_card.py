"""The data card and the citation file are valid whatever a lead enters in the settings."""

import re
from typing import Any

import pytest
import yaml

from projects.models import Project
from releases.formats import card
from releases.formats.notes import LevelFigures, Notes

NEWEST = "2026-01-02T03:04:05.000000+00:00"
ODD = 'Eye: "data" # \\ \u2028\u0085 Ä \U0001f600\n- not: a list'


def cff(**fields: Any) -> dict[str, Any]:
    found = yaml.safe_load(card.citation(Project(slug="eye", **fields), "1.2.0", NEWEST))
    assert isinstance(found, dict)
    return found


def test_the_citation_file_has_what_its_format_demands() -> None:
    found = cff(name="Eye", licence="CC-BY-4.0", citation="Doe 2026")
    assert {"cff-version": "1.2.0", "title": "Eye", "type": "dataset", "version": "1.2.0"}.items() <= found.items()
    assert (found["date-released"], found["license"]) == ("2026-01-02", "CC-BY-4.0")
    assert found["authors"] == [{"name": "The authors of Eye"}]
    assert found["preferred-citation"]["notes"] == "Doe 2026"


def test_a_licence_without_spdx_id_is_omitted_from_the_citation() -> None:
    assert "license" not in cff(name="Eye", licence="For friends only")
    assert card.licence(Project(licence="For friends only")) == "For friends only\n"
    assert "creativecommons.org" in card.licence(Project(licence="CC-BY-4.0"))


def test_odd_characters_come_through() -> None:
    found = cff(name=ODD, description=ODD, citation=ODD)
    assert found["title"] == found["abstract"] == found["preferred-citation"]["notes"] == ODD


def test_compression_is_the_mean_over_targets_of_word_ratios() -> None:
    figures = LevelFigures("proposition", "m3/level3.jsonl")
    figures.add(review="1", target="two words", inputs=[("7", "one two three"), ("8", "four five six")])
    figures.add(review="1", target="one", inputs=[("7", "a")])
    figures.add(review="2", target="", inputs=[])
    row = figures.as_json()
    assert (row["inputs_per_target"], row["compression"], row["reviews"], row["studies"]) == (1.0, 2.0, 2, 2)
    assert row["n"] == {"inputs_per_target": 3, "compression": 2}


@pytest.mark.django_db
def test_the_card_says_that_cells_are_exact_and_what_is_left_out(project: Project) -> None:
    text = card.card(project, "1.0.0", NEWEST, Notes(counts={"clusters_without_complete_gold": ["1_0"]}))
    assert "contain texts unchanged" in text
    assert "omitted because their gold is incomplete: 1 cluster (listed" in text


@pytest.mark.django_db
def test_the_card_says_how_to_verify_and_names_no_digest_of_its_own(project: Project) -> None:
    text = card.card(project, "1.0.0", NEWEST, Notes())
    assert text.index("sha256sum -c SHA256SUMS") < text.index("verify_release DIR --digest DIGEST")
    assert "digest in manifest.json" in cff(name="Eye")["message"]
    assert not re.search(r"[0-9a-f]{64}", text)
