"""The background of a review: MS^2's sentences, MSLR's tables, or the sections of the abstract."""

import json
from pathlib import Path

import pytest

from accounts.models import User
from annotation.corpus.backgrounds import backgrounds_of
from annotation.models import Review
from measures.pio import every_pair_of, pairs_of, parse_pio
from projects.curation.actions import correct
from projects.models import Member, Project
from projects.people.actions import create_project
from projects.uploads.files import Source
from tests.annotation import test_mslr as mslr
from tests.annotation.ms2_files import SAMPLE, import_records, published, review, write

pytestmark = pytest.mark.django_db


def background(pmid: str) -> str:
    [text] = backgrounds_of([Review.objects.get(pmid=pmid)]).values()
    return text


def test_of_ms2_it_is_the_tagged_sentences_of_background_and_goal(lead: User, tmp_path: Path) -> None:
    project = create_project(slug="ms2", name="MS^2", by=lead)
    import_records(project, write(tmp_path / "a.jsonl", [review()]))
    # The tags of the last span are closed in the next sentence, so it is no span of the background.
    goal = "We ask whether <int> Drug A </int> lowers <out> <pop> pain in adults ."
    assert background("7") == f"<out> Pain </out> is common . {goal}"
    labels = ["ETC", "GOAL", "METHODS", "EFFECT", "EFFECT"]
    value = {"sentence_classes": [{"number": n, "said": label} for n, label in enumerate(labels, start=1)]}
    by = Member.objects.get(project=project, user=lead)
    correct(unit=Review.objects.get().unit, kind="sentences", value=value, reason="A wrong class.", by=by)
    assert background("7") == goal


@published
def test_of_the_sample_it_has_4_pairs_of_tags_and_2_distinct_ones(project: Project) -> None:
    import_records(project, Source.of(SAMPLE))
    sample = json.loads(SAMPLE.read_text("utf-8"))
    text = background(str(sample["pmid"]))
    named = [text for label, text, _ in sample["structured_abstract"] if label in ("BACKGROUND", "GOAL")]
    assert text == " ".join(named)
    found = parse_pio(text)
    assert len(every_pair_of(found.interventions, found.outcomes)) == 4
    assert len(pairs_of(found.interventions, found.outcomes)) == 2


def test_of_mslr_it_is_in_the_tables(project: Project, tmp_path: Path) -> None:
    mslr.import_tables(project, tmp_path, mslr.tables())
    assert {pmid: background(pmid) for pmid in ("900", "901", "902")} == dict(mslr.INFOS)


def test_of_mslr_without_a_table_of_backgrounds_it_is_that_of_the_targets(project: Project, tmp_path: Path) -> None:
    head = ["ReviewID", "Target", "Background"]
    files = mslr.tables(head=head, targets=[("900", "T", "Of <out> pain </out>"), ("901", "U", "")])
    del files["train-reviews-info.csv"]
    mslr.import_tables(project, tmp_path, files)
    assert (background("900"), background("901")) == ("Of <out> pain </out>", "")
