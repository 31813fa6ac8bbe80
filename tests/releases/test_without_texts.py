"""Releases without texts: none is in any file, and with the sources the same level 3 comes back."""

import io
import json
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet as pq

from accounts.models import User
from annotation.models import Counterfactual, CueFragment, Proposition, Review, Study
from generation.models import Summary
from projects import kinds
from projects.models import Decision, Project
from releases.folders.dictionary.table import CELL_SPANS, CELL_TEXTS
from releases.folders.diffs import differences
from releases.folders.folder import read
from releases.folders.texts import hash_of
from releases.publishing.actions import write_release
from releases.sources.options import ReleaseOptions
from tests.annotation import ms2_files
from tests.releases.test_again import corpus, judging, people, staged, study
from tests.releases.test_releases import M3, SAMPLE, edit_first_target, imported

__all__ = ["corpus", "judging", "people", "staged", "study"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.parquet]
#: Files with words that some cues have: examples of guidelines, and labels of MS^2 ("no significant difference").
LABELLED = ("provenance/guidelines/", "ms2/", "huggingface/ms2_reviews/")
WITHOUT = ReleaseOptions(without=["texts"])
#: Columns of task kinds that are values of scales, numbers, identifiers, or the words of a tuple, which is a label.
LABELS = {
    *("polarity", "modality", "criterion", "choice", "chosen", "left", "right", "effect_direction", "effect_sentence"),
    *("suggestion", "supported", "sentences", "ranked", "most_relevant", "passage_rating", "proposition"),
    *("p", "i", "c", "o", "c_stands_for", "tuples", "propositions", "value", "prefilled", "marks", "screening"),
    *("inclusion", "sentence", "class", "derived", "evidence", "picked", "review", "study", "abstract", "included"),
    *("number", "without_pmid", "step", "passage", "form", "status", "words", "input", "said", "counterfactual"),
    *("applies", "origin", "rule", "relation"),
}


def content_of(folder: Path) -> dict[str, str]:
    """Return the text of each file, with its escapes resolved."""
    found = {}
    for path in filter(Path.is_file, folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".parquet":
            found[name] = json.dumps(pq.read_table(path).to_pylist(), ensure_ascii=False, default=str)
        else:
            found[name] = path.read_text().replace('""', '"')
        found[name] = found[name].replace('\\"', '"').replace("\\\\", "\\")
    return found


def texts_of(project: Project) -> set[str]:
    """Return the texts of a project: all that are longer than an element of a tuple."""
    rows = [
        Proposition.objects.filter(cluster__project=project).values_list("text", flat=True),
        Counterfactual.objects.filter(target__cluster__project=project).values_list("text", flat=True),
        Summary.objects.filter(item__run__version__system__project=project).values_list("text", flat=True),
        Review.objects.filter(project=project).values_list("title", flat=True),
        Review.objects.filter(project=project).values_list("abstract", flat=True),
        Study.objects.filter(project=project).values_list("abstract", flat=True),
        Decision.objects.of_project(project).values_list("reason", flat=True),
    ]
    return {text for each in rows for text in each if len(text) > 25}


def cues_of() -> set[str]:
    return {text for text in CueFragment.objects.values_list("quote", flat=True) if len(text) > 20}


def assert_no_texts(project: Project, folder: Path) -> None:
    texts, cues = texts_of(project), cues_of()
    assert texts
    found = {
        name: [text for text in (texts if name.startswith(LABELLED) else texts | cues) if text in content]
        for name, content in content_of(folder).items()
    }
    assert {name: listed for name, listed in found.items() if listed} == {}


def restore(folder: Path, source: Path, slug: str) -> Project:
    out = io.StringIO()
    call_command(
        "import_data", "release", str(folder), source=str(source), project=slug, create=True, stdout=out, stderr=out
    )
    return Project.objects.get(slug=slug)


def test_each_column_of_a_task_kind_is_a_text_or_a_label() -> None:
    columns = {name for kind in kinds.all_kinds() for name in kind.columns}
    assert columns - LABELS - {*CELL_TEXTS, *CELL_SPANS} == set()


def test_no_text_of_a_study_with_runs_and_ratings_is_in_any_file(study: Project, tmp_path: Path) -> None:
    made = write_release(project=study, version="1.0.0", out=tmp_path / "r", options=WITHOUT)
    assert made["without"] == ["texts"]
    assert_no_texts(study, tmp_path / "r")


def test_no_title_of_the_largest_component_of_a_split_is_in_its_report(project: Project, tmp_path: Path) -> None:
    imported(SAMPLE)
    call_command("split", project="eye", parts="train=50,test=50", stdout=io.StringIO())
    write_release(project=project, version="1.0.0", out=tmp_path / "r", options=WITHOUT)
    assert_no_texts(project, tmp_path / "r")


def test_a_release_differs_from_one_without_texts_only_in_files_without_rows(
    project: Project, lead: User, tmp_path: Path
) -> None:
    imported(SAMPLE)
    edit_first_target(project, lead)
    folders = [tmp_path / "with", tmp_path / "without"]
    for folder, options in zip(folders, (ReleaseOptions(), WITHOUT), strict=True):
        write_release(project=project, version="1.0.0", out=folder, options=options)
    assert_no_texts(project, folders[1])
    changed = [one.path for one in differences(*((folder, read(folder)) for folder in folders)) if not one.same]
    assert [path for path in changed if path.endswith((".jsonl", ".csv"))] == []
    assert "README.md" in changed


@pytest.mark.long
def test_m3_comes_back_from_release_and_source(project: Project, lead: User, tmp_path: Path) -> None:
    if not M3.exists():
        pytest.skip("../shared/data/m3/level3.jsonl is absent: M3's published file is no part of the project")
    imported(M3)
    edit_first_target(project, lead)
    write_release(project=project, version="1.0.0", out=tmp_path / "full")
    write_release(project=project, version="1.0.0", out=tmp_path / "bare", options=WITHOUT)
    assert_no_texts(project, tmp_path / "bare")
    write_release(project=restore(tmp_path / "bare", M3, "again"), version="1.0.0", out=tmp_path / "again")
    level3 = "m3/level3.jsonl"
    assert (tmp_path / "again" / level3).read_bytes() == (tmp_path / "full" / level3).read_bytes()


def test_the_sample_comes_back_with_a_corrected_cue(project: Project, tmp_path: Path) -> None:
    imported(SAMPLE)
    write_release(project=project, version="1.0.0", out=tmp_path / "r", options=WITHOUT)
    lines = (tmp_path / "r/m3/level3.jsonl").read_text().splitlines()
    first, source = json.loads(lines[0]), json.loads(SAMPLE.read_text().splitlines()[0])
    cue = source["target_text"][4:20]
    lines[0] = json.dumps({**first, "target_direction_span": hash_of(cue)}, ensure_ascii=False)
    (tmp_path / "r/m3/level3.jsonl").write_text("\n".join(lines) + "\n")
    write_release(project=restore(tmp_path / "r", SAMPLE, "again"), version="1.0.0", out=tmp_path / "again")
    expected = [json.dumps({**source, "target_direction_span": cue}, ensure_ascii=False)]
    expected += SAMPLE.read_text().splitlines()[1:]
    assert (tmp_path / "again/m3/level3.jsonl").read_text().splitlines() == expected


def test_texts_that_do_not_match_are_refused_by_id(project: Project, tmp_path: Path) -> None:
    imported(SAMPLE)
    write_release(project=project, version="1.0.0", out=tmp_path / "r", options=WITHOUT)
    row = json.loads(SAMPLE.read_text().splitlines()[1])
    other = tmp_path / "source.jsonl"
    other.write_text(SAMPLE.read_text().replace(row["target_text"], "Another text."))
    errors = io.StringIO()
    with pytest.raises(CommandError):
        call_command(
            "import_data", "release", str(tmp_path / "r"), source=str(other), project="again", create=True,
            stdout=errors, stderr=errors,
        )  # fmt: skip
    assert f"level3.jsonl:2: target_text: {row['docid']}: no text of the source" in errors.getvalue()
    assert not Project.objects.filter(slug="again").exists()
    with pytest.raises(CommandError, match="--source PATH"):
        call_command("import_data", "release", str(tmp_path / "r"), project="again", create=True)
    shutil.rmtree(tmp_path / "r")


def test_no_text_of_ms2_is_in_any_file(project: Project, tmp_path: Path) -> None:
    ms2_files.import_records(project, ms2_files.write(tmp_path / "ms2.jsonl", [ms2_files.review(n) for n in (7, 8)]))
    write_release(project=project, version="1.0.0", out=tmp_path / "r", options=WITHOUT)
    assert_no_texts(project, tmp_path / "r")
