"""Runs and scores of reviews whose target is secret or missing."""

import re
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import User
from annotation.models import Target
from generation.models import Score, Scoring, Summary
from generation.scoring.actions import NO_TARGET
from generation.scoring.computing import figures_of
from projects.people.actions import create_project
from tests.annotation import ms2_files
from tests.annotation import test_mslr as mslr
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.generation.summaries import build_run, scored

pytestmark = pytest.mark.django_db
SECRET = "A secret sentence about zebras."


@pytest.mark.parametrize("metric", ["rouge", "direction", "bleu"])
def test_a_secret_target_has_outputs_but_no_scores(lead: User, tmp_path: Path, metric: str) -> None:
    project = create_project(slug="mslr", name="MSLR", by=lead)
    targets = [(review, SECRET) for review in ("900", "901")]
    mslr.import_tables(project, tmp_path, mslr.tables("test", targets=targets, infos=mslr.INFOS[:2]))
    other = tmp_path / "train"
    other.mkdir()
    train = mslr.tables(inputs=[("800", "81", "T", "It helps.")], targets=[("800", "It helps.")], infos=[])
    mslr.import_tables(project, other, train)
    call_command("generate", project="mslr", system="Lead-3", level="document")
    assert set(Summary.objects.values_list("item__unit__key", flat=True)) == {"800", "900", "901"}
    run = Summary.objects.all()[0].item.run
    scored(run, metric)
    undefined = Score.objects.values_list("undefined", flat=True)
    assert [set(names.values()) == {NO_TARGET} for names in undefined].count(True) == 2
    figures = figures_of(Scoring.objects.get())
    counts = [found.undefined.get(NO_TARGET) for found in figures.values() if NO_TARGET in found.undefined]
    assert set(counts) == {2}, "they are counted beside the mean"
    if metric == "bleu":
        assert Scoring.objects.get().corpus["bleu"]["n"] == 1


def test_a_review_without_a_target_is_skipped_and_counted(
    lead: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = create_project(slug="ms2", name="MS^2", by=lead)
    untargeted = ms2_files.review(8, sentences=ms2_files.SENTENCES[:3])
    ms2_files.import_records(project, ms2_files.write(tmp_path / "a.jsonl", [ms2_files.review(7), untargeted]))
    call_command("generate", project="ms2", system="Lead-3", level="document")
    printed = capsys.readouterr()
    assert printed.out.endswith("1 of 1 done.\n")
    assert re.search(r"^Reviews without a target are skipped: 1\.$", printed.err, re.MULTILINE)


def test_the_propositions_of_a_secret_document_are_not_its_target(lead: User, tmp_path: Path) -> None:
    project = create_project(slug="m3", name="M3", by=lead)
    import_records(project, write(tmp_path / "1.jsonl", [plain("111", "It helps.", ("1", "Trial one."))]), level="1")
    claim = cluster("111_0", [source("One helped.", "1")], target_text="It reduces relapse.")
    import_records(project, write(tmp_path / "3.jsonl", [claim]), level="3")
    Target.objects.filter(level="document").update(is_withheld=True, text="")
    scored(build_run(project, level="document"), "bleu")
    assert Scoring.objects.get().corpus["bleu"]["n"] == 0
