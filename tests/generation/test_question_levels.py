"""Passages and questions as units of systems: inputs, pages, named references, and the tables of MEDIQA-AnS."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU

from annotation.models import Part, QuestionText, SummaryForm, WrittenSummary
from api.problems import Refused
from generation import sources
from generation.backends.identity import checked, hash_of
from generation.models import Run, Score, Scoring, Summary
from generation.results.tables.scored import Scores
from generation.scoring.actions import score_run
from projects import reports
from projects.models import Project
from projects.reports.writing import words
from tests.generation.questions import bring_questions
from tests.generation.summaries import build_run, scored

pytestmark = pytest.mark.django_db
EXTRACTIVE, ABSTRACTIVE = "extractive", "abstractive"


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    return bring_questions(project, tmp_path)


def first(material: sources.Material) -> str:
    return material.source.inputs[0].text.split(". ")[0] + "."


def last(material: sources.Material) -> str:
    return material.source.inputs[-1].text.rsplit(". ", 1)[-1]


def rows_of(project: Project, key: str) -> list[dict[str, str]]:
    table = reports.get(key).build(Scores(project))
    return [
        {column.title: words(cell) or cell.undefined for column, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]


def test_a_passage_and_all_passages_of_a_question_are_inputs(corpus: Project) -> None:
    assert [sources.count_units(corpus, level) for level in ("answer", "question")] == [16, 8]
    answers, questions = (
        sources.materials(corpus, level, sources.units_of(corpus, level)) for level in ("answer", "question")
    )
    answer, question = next(iter(answers.values())), next(iter(questions.values()))
    assert (answer.source.key, question.source.key) == ("1_Answer1", "1")
    assert [text.key for text in question.source.inputs] == ["1_Answer1", "1_Answer2"]
    assert {answer.source.question, question.source.question} == {"how long does a fever last"}
    assert [reference.name for reference in question.references] == [EXTRACTIVE, ABSTRACTIVE]
    assert question.references[0].text == "It lasts 1 days. Most people with fever recover."
    assert answer.review == question.review
    for level, found in (("answer", answers), ("question", questions)):
        sizes = sources.sizes(level, list(found))
        assert sizes == {unit: sum(len(text.text) for text in one.source.inputs) for unit, one in found.items()}
    assert sources.level_of(corpus, "document") == "answer"


def test_pages_replace_passages(corpus: Project) -> None:
    unit = sources.units_of(corpus, "question")[0]
    found = sources.materials(corpus, "question", [unit], pages=True)[unit]
    assert [text.text[:6] for text in found.source.inputs] == ["Home. "] * 2
    assert sources.sizes("question", [unit], pages=True)[unit] > sources.sizes("question", [unit])[unit]


def test_more_units_take_no_more_queries(corpus: Project) -> None:
    def queries(count: int) -> int:
        with CaptureQueriesContext(connection) as seen:
            sources.materials(corpus, "question", sources.units_of(corpus, "question")[:count])
        return len(seen)

    assert queries(8) == queries(1)


def test_units_without_the_text_that_a_version_reads_are_skipped_and_counted(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring_questions(project, tmp_path, count=3, pages=False)
    one = QuestionText.objects.get(passage__key="2_Answer2", part=Part.PASSAGE)
    QuestionText.objects.create(question=one.question, passage=one.passage, part=Part.PAGE, text="The whole page. End.")
    for level, done in (("answer", 1), ("question", 0)):
        options = {"preset": "lead-3", "level": level, "changes": ["assembly.pages=true"]}
        call_command("generate", project="eye", system=f"Lead-3 {level}", **options)
        run = Run.objects.first()
        assert run
        assert (run.items.count(), run.skipped) == (done, {"units without inputs": 6 - done if done else 3})
    assert Summary.objects.get().text == "The whole page. End."


@pytest.mark.parametrize("level", ["answer", "question"])
def test_pages_and_question_make_four_hashes(level: str) -> None:
    config = {"backend": "seq2seq", "level": level, "model": {"model": "facebook/bart-large-xsum"}}
    hashes = {
        hash_of(checked(config | {"assembly": {"pages": pages, "question": question}}), {})
        for pages in (False, True)
        for question in (False, True)
    }
    assert len(hashes) == 4


def test_reviews_have_no_pages() -> None:
    with pytest.raises(Refused) as refused:
        checked({"backend": "extractive", "level": "document", "assembly": {"pages": True}})
    assert refused.value.errors[0]["field"] == "assembly.pages"


@pytest.mark.parametrize("preset", ["lead-3", "random-3", "rouge-3"])
@pytest.mark.parametrize("level", ["answer", "question"])
def test_the_extractive_presets_run_over_both_levels_by_command(corpus: Project, preset: str, level: str) -> None:
    call_command("generate", project="eye", system=preset, preset=preset, level=level)
    run = Run.objects.get()
    assert (run.version.level, run.items.count()) == (level, sources.count_units(corpus, level))
    text = Summary.objects.order_by("pk").first()
    assert text
    assert text.text.count(".") == 3


@pytest.mark.parametrize("level", ["answer", "question"])
def test_every_score_names_its_reference_and_equals_the_libraries(corpus: Project, level: str) -> None:
    scored(build_run(corpus, level=level, write=first), "rouge", "bleu")
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rouge3", "rougeL"])
    scores = Score.objects.select_related("reference__written_summary", "summary", "scoring")
    assert scores.count() == 2 * 2 * sources.count_units(corpus, level)
    for score in scores:
        reference = score.reference
        assert reference
        text = reference.written_summary.text
        if score.scoring.metric == "bleu":
            expected = BLEU(effective_order=True).sentence_score(score.summary.text, [text]).score
            assert score.values["bleu"] == pytest.approx(expected, abs=1e-9)
            continue
        for kind, one in scorer.score(text, score.summary.text).items():
            if f"{kind}_f1" in score.undefined:  # rouge-score has 0
                assert (kind, len(text.split())) == ("rouge3", 2)
                continue
            got = [score.values[f"{kind}_{part}"] for part in ("precision", "recall", "f1")]
            assert got == pytest.approx([one.precision, one.recall, one.fmeasure], abs=1e-9)
    assert [row["Against"] for row in rows_of(corpus, "mediqa")] == [EXTRACTIVE, ABSTRACTIVE]


def test_a_writer_names_the_reference(corpus: Project) -> None:
    WrittenSummary.objects.filter(form=SummaryForm.ABSTRACTIVE).update(writer="Kim")
    scored(build_run(corpus, level="question", write=first), "rouge")
    assert [row["Against"] for row in rows_of(corpus, "mediqa")] == [EXTRACTIVE, "abstractive by Kim"]


def test_the_maximum_over_references_is_a_setting_that_the_table_names(corpus: Project) -> None:
    run = build_run(corpus, level="question", write=first)
    scored(run, "rouge", references="maximum")
    best: dict[int, float] = {}
    for score in Score.objects.all():
        best[score.summary_id] = max(best.get(score.summary_id, 0.0), score.values["rouge1_recall"])
    rows = rows_of(corpus, "mediqa")
    assert [row["Against"] for row in rows] == ["maximum over references"]
    assert rows[0]["ROUGE-1 recall"].startswith(f"{100 * sum(best.values()) / len(best):.1f}")
    notes = " ".join(reports.get("mediqa").build(Scores(corpus)).notes)
    assert "references maximum" in notes
    assert Score.objects.filter(reference=None).count() == 0


def test_reviews_have_no_setting_of_references(corpus: Project) -> None:
    run = build_run(corpus, level="question", write=first)
    run.version.level = "document"
    with pytest.raises(Refused):
        score_run(run=run, metric="rouge", params={"references": "maximum"}, by=None, progress=lambda *_: None)


def test_systems_are_compared_by_wilcoxons_test_on_the_same_units(corpus: Project) -> None:
    from scipy import stats  # type: ignore[import-untyped]

    for name, write in (("A", first), ("B", last)):
        scored(build_run(corpus, name, "answer", write), "rouge", "bleu")
    table = reports.get("mediqa-pairs").build(Scores(corpus))
    titles = [column.title for column in table.columns]
    tested = 0
    for cells in table.rows:
        row = dict(zip(titles, cells, strict=True))
        if row["Figure"].value != "ROUGE-1 recall":
            continue
        values: list[dict[Any, float]] = []
        for name in ("A", "B"):
            scoring = Scoring.objects.get(metric="rouge", run__version__system__name=name)
            of = Score.objects.filter(
                scoring=scoring, reference__written_summary__form=row["Against"].value
            ).values_list("summary__item__unit", "values__rouge1_recall")
            values.append(dict(of))
        differences = [round(value - values[1][unit], 12) for unit, value in values[0].items()]
        expected = stats.wilcoxon([d for d in differences if d], method="asymptotic").pvalue
        assert row["p (Wilcoxon)"].value == pytest.approx(expected, abs=1e-9)
        assert (row["n"].value, row["Zeros"].value) == (16, differences.count(0.0))
        tested += 1
    assert tested == 2
    assert not table.missing


def test_tables_of_targets_leave_out_runs_over_questions(corpus: Project) -> None:
    scored(build_run(corpus, level="question", write=first), "rouge")
    assert not reports.get("m3-4").is_of(Scores(corpus))
    assert rows_of(corpus, "m3-4") == []


def test_the_texts_of_scored_pages_are_the_ones_that_were_read(corpus: Project) -> None:
    call_command("generate", project="eye", system="Lead-3", level="answer", changes=["assembly.pages=true"])
    run = Run.objects.get()
    scored(run, "copying")
    assert {score.values["coverage"] for score in Score.objects.filter(values__has_key="coverage")} == {1.0}
