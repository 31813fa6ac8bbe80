"""Table of machine readings compared with what people decided."""

from functools import cached_property
from typing import Any

from measures.agreement.gold import class_score
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from ..models import ReadingTask
from .figures import KEY

IMPORTED = "imported"
NONE_GIVEN = "the model never gave this class"
NONE_DECIDED = "people never decided on this class"
NEITHER = "neither people nor the model have this class"


class ScoreData(TableContext):
    """Stored comparison. Everyone who may read results may see it: decisions are made when a round is closed."""

    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, KEY)

    @property
    def figures(self) -> list[dict[str, Any]]:
        return self.stored.figures or []


class ReadingScoreTable(ReportTable[ScoreData]):
    key = "reading-scores"
    title = "Machine readings compared with people's labels"
    data = ScoreData

    def is_of(self, data: ScoreData) -> bool:
        return bool(data.figures)

    def build(self, data: ScoreData) -> Table:
        return Table(
            self.key,
            self.title,
            f"Precision, recall and F1 of each class, by model, in {data.project.name}. n counts what people decided: "
            "sentences, spans or words of abstracts, effects, and reviews.",
            [
                *(Column(title, False) for title in ("Task", "Model", "Class")),
                *map(Column, ("n", "By the model", "Precision (%)", "Recall (%)", "F1 (%)")),
            ],
            [row for one in data.figures for row in _rows(one)],
            [*_notes(data.figures), *data.stored.notes()],
        )


def _rows(figures: dict[str, Any]) -> list[list[Cell]]:
    rows = []
    model = f"{figures['model']} ({figures['weights'][:8]})" if figures["weights"] else IMPORTED
    for one in figures["classes"]:
        score = class_score(one["name"], one["equal"], one["people"], one["given"])
        rows.append(
            [
                Cell(figures["title"]),
                Cell(model),
                Cell(one["name"]),
                Cell(score.n_gold),
                Cell(score.n_given),
                _percent(score.precision, NONE_GIVEN),
                _percent(score.recall, NONE_DECIDED),
                _percent(score.f1, NEITHER),
            ]
        )
    return rows


def _percent(value: float | None, undefined: str) -> Cell:
    return Cell(None, undefined=undefined) if value is None else Cell(100 * value)


def _notes(figures: list[dict[str, Any]]) -> list[str]:
    notes = [
        "Only texts that a person has decided on count: by an adopted answer, or by confirming a model's value. "
        f"{IMPORTED.capitalize()}: the readings of imported files; other models have the first digits of the SHA-256 "
        "of their weights. Spans are equal if they have the same characters; words are separated by blanks."
    ]
    shown = {one["task"]: one for one in figures if one["shown"]}
    notes += [
        f"{one['title']}: people saw a model's value in {one['shown']:,} of {one['units']:,} units. This favours that "
        "model."
        for one in shown.values()
    ]
    skipped = next((one["skipped"] for one in figures if one["task"] == ReadingTask.EFFECTS), 0)
    if skipped:
        notes.append(f"Effects: left out are {skipped:,} that people found not reported; models have no such class.")
    return notes
