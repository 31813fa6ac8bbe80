"""The data card and the licence file."""

import re

import pytest

from projects.models import Project
from releases.formats import card
from releases.formats.notes import LevelFigures, Notes

NEWEST = "2026-01-02T03:04:05.000000+00:00"


def test_the_licence_file_has_the_address_of_a_licence_with_an_spdx_id() -> None:
    assert card.licence(Project(licence="For friends only")) == "For friends only\n"
    assert "creativecommons.org" in card.licence(Project(licence="CC-BY-4.0"))


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
    assert not re.search(r"[0-9a-f]{64}", text)
