"""Every number of the Results and Agreement pages is in a release and can be recomputed from it.

Tables are found by their registry, the report by the schema of its API.
"""

import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rest_framework.fields import DictField, JSONField, ListField
from rest_framework.serializers import ListSerializer, Serializer

from generation import metrics
from generation.results.tables.probed import accuracies
from generation.results.tables.scored import Scores
from generation.sources import Material, existing_units, unit_positions
from measures.direction import MS2_CLASSES
from measures.recompute import agreement, pairs, scores
from measures.recompute.__main__ import PARTS
from measures.recompute.files import Findings, Folder
from projects.agreement.serializers import AgreementReportSerializer, AgreementSerializer
from projects.gold.actions import finish_round
from projects.models import Member, Project
from projects.queue import queries as queue_queries
from projects.queue.actions import next_assignments
from projects.reports.table import Cell
from projects.rounds.actions import close_round
from tests.annotation.ms2_files import import_records, review, write
from tests.builders import answer, build_round, label_value
from tests.generation.builders import build_run, build_version
from tests.generation.questions import bring_questions
from tests.generation.score_tables import score_tables
from tests.generation.summaries import build_run as build_summaries
from tests.generation.summaries import scored
from tests.releases.systems import beside, clusters, documents
from tests.releases.test_again import corpus, judging, levels, people, staged, study
from tests.releases.test_needed_again import released

__all__ = ["beside", "clusters", "corpus", "documents", "judging", "levels", "people", "staged", "study"]
pytestmark = pytest.mark.django_db
#: Shown on the Agreement page, but not part of the report: results of correction rounds. A release has the agreement of
#: independent labelling only.
OF_THE_PAGE = {"unmeasured", "as_of", "current", "answers_now", "job", "review"}


class Heard(Findings):
    """Records every number that was compared with a computed one."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[float] = []

    def compare(self, file: str, subject: str, printed: Any, recomputed: Any) -> None:
        super().compare(file, subject, printed, recomputed)
        self.numbers += numbers_in(printed)


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def recompute_all(folder: Path) -> Heard:
    heard = Heard()
    for part in PARTS:
        part(Folder(folder), heard)
    assert (heard.differences, heard.not_recomputed) == ([], [])
    return heard


def printed_in(cell: Cell) -> list[float]:
    found = [cell.value, cell.bracket, cell.sd, cell.n, cell.bracket_n, *(cell.ci or ()), *(cell.bracket_ci or ())]
    return [float(number) for number in found if isinstance(number, int | float)]


def is_among(number: float, known: Sequence[float]) -> bool:
    """As printed, or in per cent."""
    for wanted in (number, number / 100):
        at = bisect_left(known, wanted)
        if any(math.isclose(wanted, near, rel_tol=1e-12, abs_tol=1e-15) for near in known[max(at - 1, 0) : at + 1]):
            return True
    return False


def walked(project: Project, folder: Path) -> tuple[dict[str, int], list[str]]:
    """Return (how many non-integer numbers each table prints, the cells whose numbers are not recomputed)."""
    known = sorted(recompute_all(folder).numbers)
    shown = Scores(project)
    cells = [
        (table.key, column.title, number)
        for table in score_tables()
        for made in [table.build(shown)]
        for row in made.rows
        for column, cell in zip(made.columns, row, strict=True)
        for number in printed_in(cell)
    ]
    count = Counter(key for key, _, number in cells if number % 1 != 0)
    return count, [f"{key}, {title}: {number}" for key, title, number in cells if not is_among(number, known)]


def test_every_number_that_a_table_prints_is_computed_again(beside: Project, tmp_path: Path) -> None:
    """Fails for a new table whose figures are not in a release, or that is empty here."""
    count, lacking = walked(beside, released(beside, tmp_path / "r"))
    assert lacking == []
    empty = [table.key for table in score_tables() if count[table.key] < 3]
    # No run of this test has the level of pairs or of questions: see the next tests.
    of_questions = {"mediqa", "mediqa-standard", "mediqa-pairs"}
    assert set(empty) == {"ms2-6", *of_questions}, "give the systems of this test what these print"


def test_every_figure_of_pairs_is_recomputed_from_a_release(project: Project, tmp_path: Path) -> None:
    records = [review(pmid=n) for n in range(1, 4)]
    import_records(project, write(tmp_path / "reviews.jsonl", records))
    units = existing_units("pair", list(unit_positions(project, "pair")))
    texts = dict(zip(units, [*MS2_CLASSES, "It helps.", *MS2_CLASSES[:2]], strict=True))
    scored(build_run(build_version(project, level="pair"), texts), "stated_direction")
    count, lacking = walked(project, released(project, tmp_path / "r"))
    assert lacking == []
    assert count["ms2-6"] >= 3, count


@pytest.mark.parametrize("references", ["one by one", "maximum"])
def test_every_figure_of_questions_is_recomputed_from_a_release(
    project: Project, tmp_path: Path, references: str
) -> None:
    bring_questions(project, tmp_path)
    for name, number in (("A", 0), ("B", 1)):

        def sentence(material: Material, number: int = number) -> str:
            return material.source.inputs[0].text.split(". ")[number]

        for version, level in enumerate(("answer", "question"), start=1):
            run = build_summaries(project, name, level, sentence, version)
            scored(run, "rouge", "bleu", references=references)
            scored(run, "copying")
    count, lacking = walked(project, released(project, tmp_path / "r"))
    assert lacking == []
    assert all(count[key] > 10 for key in ("mediqa", "mediqa-standard", "mediqa-pairs", "m3-6")), count


@pytest.mark.long
def test_every_figure_of_documents_is_recomputed_from_a_release(documents: Project, tmp_path: Path) -> None:
    count, lacking = walked(documents, released(documents, tmp_path / "r"))
    assert lacking == []
    # Probes, pairs and questions have tests of their own.
    others = ("m3-7", "ms2-6", "mediqa")
    assert count.keys() == {table.key for table in score_tables() if not table.key.startswith(others)}


@pytest.mark.long
def test_every_mean_of_a_system_is_computed_again(beside: Project, tmp_path: Path) -> None:
    known = sorted(recompute_all(released(beside, tmp_path / "r")).numbers)
    shown = Scores(beside)
    figures = [
        (metric.key, figure)
        for metric in metrics.every()
        for figure in metric.figures
        if any(printed_in(shown.cell(metric.key, at, figure)) for at in shown.runs)
    ]
    assert len(figures) > 40
    for metric, figure in figures:
        for at in shown.runs:
            lacking = [n for n in printed_in(shown.cell(metric, at, figure)) if not is_among(n, known)]
            assert lacking == [], (metric, figure.key, at.name)
    for name, result in accuracies(shown.probed).items():
        assert all(is_among(n, known) for n in (result.accuracy.value or 0.0, *(result.accuracy.ci or ()))), name


@pytest.mark.long
def test_a_figure_without_its_part_of_the_release_is_missed(
    beside: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shows that the test above can fail."""
    folder = released(beside, tmp_path / "r")
    for parts, of in (
        ((agreement.recompute, scores.recompute), {"m3-4-pairs", "m3-6-pairs", "m3-7-pairs", "m3-7-common"}),
        ((pairs.recompute,), {"m3-7", "m3-7-wide", "ms2", "texts"}),
    ):
        monkeypatch.setattr(f"{__name__}.PARTS", parts)
        assert {cell.split(",")[0] for cell in walked(beside, folder)[1]} == of


def shape(field: Any, name: str = "") -> Iterator[str]:
    """Return the paths of an API reply by its serializer."""
    if isinstance(field, ListSerializer):
        yield from shape(field.child, f"{name}[]")
    elif isinstance(field, Serializer):
        for key, each in field.fields.items():
            yield from shape(each, f"{name}.{key}")
    elif not isinstance(field, ListField | DictField | JSONField):
        yield name


def places(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, f"{name}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from places(each, f"{name}[]")
    else:
        yield name


def lies_in(place: str, whole: str) -> bool:
    return place == whole or place.startswith((f"{whole}.", f"{whole}[]"))


def asked_twice(project: Project, people: Sequence[Member]) -> None:
    """A closed round with repeats, which people answer partly differently."""
    said = [("positive", "weak"), ("negative", "strong"), ("no effect", "moderate"), ("positive", "strong")]
    round = build_round(
        project,
        list(people[:2]),
        name="Twice",
        purpose="measure only",
        allocation="dealt",
        repeat_share=0.5,
        repeat_distance=1,
    )
    for person in people[:2]:
        n = 0
        while held := next_assignments(user=person.user, round=round):
            polarity, modality = said[(n + n // 3) % len(said)]
            answer(person.user, held[0], label_value(polarity, modality))
            n += 1
    close_round(round=round, by=None)
    round.refresh_from_db()
    finish_round(round=round, by=None)


def test_every_field_of_the_agreement_report_is_recomputed_from_a_release(
    corpus: Project, people: list[Member], tmp_path: Path
) -> None:
    """New fields of the page's schema must also be in a release."""
    asked_twice(corpus, people)
    folder = released(corpus, tmp_path / "r")
    assert recompute_all(folder).equal[agreement.REPORTS] > 500
    lines = [json.loads(line) for line in (folder / agreement.REPORTS).read_text().splitlines()]
    found = {place for line in lines for place in places(line["report"])}
    promised = set(shape(AgreementReportSerializer()))
    # Below null and empty lists there is nothing.
    lacking = {place for place in promised if not any(lies_in(each, place) or lies_in(place, each) for each in found)}
    # No round here has attention checks, groups of raters, a weighted scale or written summaries (test_written),
    # and none shows suggestions (test_suggestions_again).
    elsewhere = (
        ".suggestions",
        ".attention_checks",
        ".suggestions_shown",
        ".rater_group",
        ".measures[].unweighted",
        ".measures[].cite_form",
        ".writing",
    )
    assert {place for place in lacking if not place.startswith(elsewhere)} == set()
    assert AgreementSerializer().fields.keys() - AgreementReportSerializer().fields.keys() == OF_THE_PAGE


@pytest.mark.long
def test_practice_is_not_released_and_reviewed_values_have_no_agreement_report(
    corpus: Project, people: list[Member], tmp_path: Path
) -> None:
    person = people[0]
    for name in ("practice", "review and correct"):
        round = build_round(corpus, [person], name=f"a {name}", purpose=name, sample=3)
        while held := next_assignments(user=person.user, round=round):
            card = queue_queries.cards(round, held[:1])[0]
            answer(person.user, held[0], card["value"] or label_value(), references=card["references"])
        close_round(round=round, by=None)
        round.refresh_from_db()
        finish_round(round=round, by=None)
    folder = released(corpus, tmp_path / "r")
    recompute_all(folder)
    rounds = {line["round"]: line for line in map(json.loads, (folder / "rounds.jsonl").read_text().splitlines())}
    assert "a practice" not in rounds
    assert rounds["a review and correct"]["independent"] is False
    answers = (folder / "answers" / "label.csv").read_text()
    assert "a review and correct" in answers
    assert "a practice" not in answers
    assert "a practice" not in (folder / "README.md").read_text()
    reports = (folder / agreement.REPORTS).read_text() if (folder / agreement.REPORTS).exists() else ""
    assert "a review and correct" not in reports
    assert "a practice" not in reports
