"""From the command to the score for documents and sentences."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from generation.models import Score, Summary
from projects.models import Project
from tests.annotation.m3_files import cluster, import_records, plain, source, write

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = plain("111", "It helps, and is safe.", ("1", "Trial one helped."), ("2", "Trial two hurt nobody."))
SENTENCE = plain("111_0", "It helps.", ("1", "One helped."), ("2", "Two helped too."))
CLUSTERS = [
    cluster("111_0", [source("One helped.", "1")], target_text="Trial one helped."),
    cluster("111_1", [source("One was safe.", "1")], target_text="It reduces harm."),
]


@pytest.fixture
def done(project: Project, tmp_path: Path) -> Callable[[str], str]:
    """``done(level)`` runs lead-1 on the level, scores it with ROUGE, and returns the table."""
    for level, records in (("1", [DOCUMENT]), ("2", [SENTENCE]), ("3", CLUSTERS)):
        import_records(project, write(tmp_path / f"level{level}.jsonl", records), level=level)
    config = tmp_path / "lead.json"
    config.write_text(json.dumps({"backend": "extractive", "decoding": {"method": "lead", "sentences": 1}}))

    def run(level: str) -> str:
        call_command("generate", project="eye", system="Lead-1", config=config, level=level, stdout=StringIO())
        call_command("score", project="eye", metric=["rouge"], stdout=StringIO(), stderr=StringIO())
        said = StringIO()
        call_command("tables", project="eye", table=["m3-4"], format="csv", stdout=said)
        return said.getvalue()

    return run


def test_a_document_with_two_propositions_is_judged_against_its_own_text_and_against_both(
    done: Callable[[str], str],
) -> None:
    table = done("document")
    summary = Summary.objects.get()
    assert summary.text == "Trial one helped."
    rows = {score.reference.key: score for score in Score.objects.select_related("reference") if score.reference}
    assert len(rows) == 3
    exact = [key for key, score in rows.items() if score.values["rouge1_f1"] == 1]
    assert len(exact) == 1, "the proposition that it repeats, and neither the other nor the document"
    assert "Lead-1,document,own target,1,1," in table
    assert "Lead-1,document,propositions of its review,2,1," in table


def test_a_target_sentence_is_judged_against_itself(done: Callable[[str], str]) -> None:
    table = done("sentence")
    assert Summary.objects.get().text == "One helped."
    assert Score.objects.count() == 1
    assert "Lead-1,sentence,own target,1,1," in table
