"""MEDIQA-AnS's Tables 1, 3 and 4, as stored by a job and recomputed from a release."""

import statistics
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU

from annotation.imports.actions import check_files, import_files
from annotation.models import QuestionText, WrittenSummary
from measures import question_texts as measured
from measures.question_texts import host_of
from measures.recompute import question_texts
from measures.recompute.files import Findings, Folder
from measures.sentences import sentences
from measures.tokens import WHITE_SPACE, tokenizer, tokenizer_name
from projects import reports
from projects.models import Project
from projects.reports.registry import Tables
from projects.stored_figures.actions import compute_and_store
from projects.uploads.files import Source
from releases.folders.dictionary import table_of
from tests.annotation.test_mediqa import SHARED
from tests.generation.questions import bring_questions
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db


def table(project: Project, key: str) -> Any:
    return Tables(project).build(reports.get(key))


def column(project: Project, key: str, title: str) -> dict[str, Any]:
    made = table(project, key)
    at = [column.title for column in made.columns].index(title)
    return {row[0].value: row[at] for row in made.rows}


def test_lengths_name_tokenizer_and_splitter_and_equal_a_count_by_hand(project: Project, tmp_path: Path) -> None:
    bring_questions(project, tmp_path)
    compute_and_store(project=project)
    texts = {
        "Questions": QuestionText.objects.filter(part="question"),
        "Passages": QuestionText.objects.filter(part="passage"),
        "Whole pages": QuestionText.objects.filter(part="page"),
        **{
            f"Summaries of {scope}, {form}": WrittenSummary.objects.filter(
                form=form, passage__isnull=scope != "one passage"
            )
            for scope in ("one passage", "all passages")
            for form in ("extractive", "abstractive")
        },
    }
    split = tokenizer()
    counted: dict[str, Callable[[str], Sequence[str]]] = {"Tokens": split, "Sentences": sentences}
    for title, pieces in counted.items():
        cells = column(project, "mediqa-4", title)
        assert list(cells) == list(texts)
        for name, rows in texts.items():
            counts = [len(pieces(text)) for text in rows.values_list("text", flat=True)]
            expected = statistics.fmean(counts), statistics.pstdev(counts)
            assert (cells[name].value, cells[name].sd) == pytest.approx(expected, abs=1e-9)
    notes = table(project, "mediqa-4").notes
    assert notes[0] == f"Tokenizer: {tokenizer_name()}. Sentence splitter: concord-sentences 1."


def test_a_table_without_spacy_says_how_to_install_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "tokenizer_name", lambda: WHITE_SPACE)
    bring_questions(project, tmp_path)
    compute_and_store(project=project)
    for key in ("mediqa-3", "mediqa-4"):
        assert "pip install -r requirements/tokens.txt" in table(project, key).notes[0]


def test_a_project_without_questions_has_an_empty_table(project: Project) -> None:
    found = table(project, "mediqa-4")
    assert (found.rows, found.notes[0]) == ([], "No texts of questions are counted yet.")


def test_hosts_of_pages_are_counted(project: Project, tmp_path: Path) -> None:
    bring_questions(project, tmp_path)
    QuestionText.objects.filter(part="url", passage__key="1_Answer1").update(text="not an address")
    compute_and_store(project=project)
    cells = column(project, "mediqa-1", "Passages")
    assert {host: cell.value for host, cell in cells.items()} == {
        "site2.org": 6,
        "site1.org": 5,
        "site0.org": 4,
        "no address": 1,
    }


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://WWW.Nih.gov/a", "nih.gov"), ("", "no address"), ("http://[x", "no address"), ("a.org/x", "no address")],
)
def test_the_host_of_an_address(url: str, host: str) -> None:
    assert host_of(url) == host


def test_extractive_summaries_are_compared_with_abstractive_ones_of_the_same_text(
    project: Project, tmp_path: Path
) -> None:
    bring_questions(project, tmp_path)
    compute_and_store(project=project)
    split, pairs = tokenizer(), []
    for one in WrittenSummary.objects.filter(passage=None, form="extractive"):
        other = WrittenSummary.objects.get(passage=None, form="abstractive", question=one.question)
        pairs.append((" ".join(split(one.text)), " ".join(split(other.text))))
    expected = BLEU(tokenize="none", force=True).corpus_score([a for a, _ in pairs], [[b for _, b in pairs]]).score
    assert column(project, "mediqa-3", "BLEU of the corpus")["of all passages"].value == pytest.approx(expected)


def test_every_figure_is_recomputed_from_a_release(project: Project, tmp_path: Path) -> None:
    bring_questions(project, tmp_path)
    compute_and_store(project=project)
    folder = released(project, tmp_path / "r")
    findings = Findings()
    question_texts.recompute(Folder(folder), findings)
    assert (findings.differences, findings.not_recomputed) == ([], [])
    assert findings.equal[question_texts.FIGURES] > 30
    path = folder / question_texts.TEXTS
    path.write_text(path.read_text().replace("Water helps.", "Water helps a lot."))
    question_texts.recompute(Folder(folder), findings)
    assert any("tokens, mean" in sentence for sentence in findings.differences)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published files of MEDIQA-AnS are not there")
@pytest.mark.skipif(find_spec("spacy") is None, reason="spaCy is not installed (requirements/tokens.txt)")
def test_the_published_files_have_the_figures_of_the_paper(project: Project) -> None:
    sources = [Source.of(path) for path in sorted(SHARED.glob("*.json"))]
    checked = check_files(project=project, format="mediqa-ans", sources=sources)
    import_files(project=project, format="mediqa-ans", checked=checked, by=None)
    compute_and_store(project=project)
    cells = column(project, "mediqa-4", "Tokens")
    paper = {
        "Passages": (631, 869),
        "Summaries of all passages, extractive": (220, 183),
        "Summaries of all passages, abstractive": (141, 119),
    }
    for name, (mean, sd) in paper.items():
        assert abs(cells[name].value - mean) < 0.5
        assert int(cells[name].sd) == sd, "the paper cuts 183.5 off"
    # Table 3: .42 and .62.
    assert abs(column(project, "mediqa-3", "BLEU of the corpus")["of all passages"].value - 42) < 1
    assert abs(column(project, "mediqa-3", "ROUGE-2 recall (%)")["of all passages"].value - 62) < 3


def test_the_released_texts_are_described(project: Project, tmp_path: Path) -> None:
    bring_questions(project, tmp_path, count=1)
    described = table_of(question_texts.TEXTS)
    assert described
    first = (released(project, tmp_path / "r") / question_texts.TEXTS).read_text().splitlines()[0]
    assert first.split(",") == list(described.columns)
