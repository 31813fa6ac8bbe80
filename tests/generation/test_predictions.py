"""`manage.py outputs`: files for the published scorers, read by other readers than the writer."""

import csv
import io
import json
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped, unused-ignore]
import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from annotation.models import Review, Target
from generation.models import Run, Summary
from generation.runs.actions import embargo_run
from measures.pio import every_pair_of, parse_pio
from projects.models import Project
from projects.people.actions import create_project
from releases.formats import mslr as mslr_release
from releases.formats.notes import Notes
from tests.annotation import ms2_files
from tests.annotation import test_mslr as mslr_files
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db
#: Outputs by review. Quotes, commas and all line ends must survive, as must an empty text.
OUTPUTS = {"900": 'He said "no",\nthen\r\nwent β .', "901": ""}


@pytest.fixture
def mslr(lead: User, tmp_path: Path) -> Run:
    project = create_project(slug="mslr", name="MSLR", by=lead)
    secret = mslr_files.tables("test", infos=mslr_files.INFOS[:2], targets=mslr_files.TARGETS[::2])
    mslr_files.import_tables(project, tmp_path, secret)
    units = dict(Review.objects.values_list("pmid", "unit"))
    return build_run(build_version(project, level="document"), {units[key]: text for key, text in OUTPUTS.items()})


def written(run: Run, path: Path, format: str = "mslr") -> bytes:
    project = run.version.system.project
    call_command("outputs", project=project.slug, run=run.pk, format=format, out=path)
    return path.read_bytes()


def test_predictions_of_mslr_are_read_by_pandas_and_csv(mslr: Run, tmp_path: Path) -> None:
    content = written(mslr, tmp_path / "predictions.csv")
    assert content.startswith(b',ReviewID,Generated\n0,900,"He said ""no"",\nthen\r\nwent ')
    table = pd.read_csv(tmp_path / "predictions.csv", index_col=0, dtype=str, keep_default_na=False)
    assert dict(zip(table["ReviewID"], table["Generated"], strict=True)) == OUTPUTS
    assert list(table.index.astype(int)) == [0, 1]
    with (tmp_path / "predictions.csv").open(newline="", encoding="utf-8") as file:
        assert {row["ReviewID"]: row["Generated"] for row in csv.DictReader(file)} == OUTPUTS
    # As pandas itself writes this table.
    assert table.rename_axis(None).to_csv(lineterminator="\n").encode() == content


def test_predictions_are_printed_and_can_be_imported_again(mslr: Run, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("outputs", project="mslr", run=mslr.pk, format="mslr", stdout=out)
    path = tmp_path / "predictions.csv"
    assert out.getvalue().encode() == written(mslr, path)
    call_command("generate", project="mslr", system="Other", outputs=path, level="document")
    others = Summary.objects.exclude(item__run=mslr).values_list("item__unit__key", "text")
    assert dict(others) == OUTPUTS


def test_the_evaluator_of_mslr_pairs_predictions_with_released_targets(lead: User, tmp_path: Path) -> None:
    """It reads both tables by pandas with its usual types, joins them by ReviewID, and scores a missing text as ""."""
    project = create_project(slug="dev", name="MSLR", by=lead)
    files = mslr_files.tables("dev", infos=mslr_files.INFOS[:2], targets=mslr_files.TARGETS[::2])
    mslr_files.import_tables(project, tmp_path, files)
    unit = Review.objects.get(pmid="900").unit_id
    run = build_run(build_version(project, level="document"), {unit: OUTPUTS["900"]})
    generated = pd.read_csv(io.BytesIO(written(run, tmp_path / "predictions.csv")), index_col=0)
    released = {name: b"".join(lines) for name, lines in mslr_release.files(project, Notes())}
    targets = pd.read_csv(io.BytesIO(released["mslr/dev-targets.csv"]), index_col=0)
    texts = dict(zip(generated["ReviewID"], generated["Generated"].fillna(""), strict=True))
    pairs = {review: (text, texts.get(review, "")) for review, text in targets[["ReviewID", "Target"]].values.tolist()}
    assert pairs == {900: ("It does not help .", OUTPUTS["900"]), 901: ("It helps .\nDeath is rare .", "")}


def test_lines_of_ms2_have_the_tagged_background_and_only_known_targets(
    mslr: Run, project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert written(mslr, tmp_path / "a.jsonl", "consistency-scorer") == b""
    assert capsys.readouterr().err == "Units without a known target are left out: 2.\n"
    ms2_files.import_records(project, ms2_files.write(tmp_path / "b.jsonl", [ms2_files.review()]))
    run = build_run(build_version(project, level="document"), {Review.objects.get(pmid="7").unit_id: "It\nhelps."})
    [line] = written(run, tmp_path / "c.jsonl", "consistency-scorer").splitlines()
    row = json.loads(line)
    assert list(row) == ["generated", "target", "preamble"]
    assert (row["generated"], row["target"]) == ("It\nhelps.", "Drug A lowers pain\nDeath is not affected .")
    preamble = parse_pio(row["preamble"])
    assert every_pair_of(preamble.interventions, preamble.outcomes) == (("Drug A", "Pain"),)
    Target.objects.filter(review__pmid="7").update(text="no significant difference")
    assert json.loads(written(run, tmp_path / "d.jsonl", "f1-scorer"))["target"] == "no significant difference"


def test_runs_that_do_not_fit_are_refused_and_write_no_file(mslr: Run, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(CommandError, match=f"eye has no run {mslr.pk}. Runs: none"):
        call_command("outputs", project="eye", run=mslr.pk, format="mslr", out=path)
    ms2_files.import_records(project, ms2_files.write(tmp_path / "b.jsonl", [ms2_files.review()]))
    run = build_run(build_version(project, level="document"), {Review.objects.get(pmid="7").unit_id: "x"})
    with pytest.raises(CommandError, match="f1_scorer reads directions"):
        written(run, path, "f1-scorer")
    propositions = build_run(build_version(project, "Other"), {})
    with pytest.raises(CommandError, match="one text per review"):
        written(propositions, path)
    embargo_run(run=run, members=[project.members.all()[0]], by=None)
    with pytest.raises(CommandError, match="embargoed"):
        written(run, path, "mslr")
    assert not path.exists()
