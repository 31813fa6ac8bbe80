"""M3's Table 2 for this project, beside the figures of the paper and those of the published files."""

from functools import cached_property
from typing import Any, NamedTuple

from projects.models import Import
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from .figures import LEVELS

NAMES = {"document": "1, documents", "sentence": "2, sentences", "proposition": "3, propositions"}
#: Column -> its title and decimals.
FIGURES = {
    "targets": ("Targets", 0),
    "inputs": ("Inputs", 0),
    "inputs_per_target": ("Inputs per target", 2),
    "compression": ("Compression", 2),
}


class Published(NamedTuple):
    """What the paper states (Otmakhova et al. 2022, Table 2), and what the published file of the level contains."""

    paper: dict[str, float]
    file: dict[str, float]
    why: str


#: Level 1 is missing: its file was not available when these figures were counted.
PUBLISHED = {
    "sentence": Published(
        {"targets": 318, "inputs": 1840, "inputs_per_target": 5.8, "compression": 8.3},
        {"targets": 315, "inputs": 1831, "inputs_per_target": 5.81, "compression": 8.26},
        "The published file of level 2 has 315 targets and 1,831 inputs, 3 and 9 fewer than the paper counts; why is "
        "not known. Its means are those of the paper after rounding.",
    ),
    "proposition": Published(
        {"targets": 369, "inputs": 1899, "inputs_per_target": 5.1, "compression": 6.2},
        {"targets": 381, "inputs": 1911, "inputs_per_target": 5.02, "compression": 6.09},
        "The published file of level 3 has 381 targets and 1,911 inputs, 12 of each more than the paper counts; why is "
        "not known. Its means are therefore lower: 1,911 / 381 = 5.02 inputs per target, but 1,899 / 369 = 5.15.",
    ),
}
NOT_AT_HAND = "the paper's figures of this level are not stored, because its file could not be checked"
SWAPPED = "The paper's Table 2 has the headers of inputs and targets swapped. Here they are in their right places."
METHOD = (
    "Compression: mean over targets of the words of the inputs divided by the words of the target, split at white "
    "space."
)


class LevelData(TableContext):
    """The stored figures of the levels. None of them is hidden from users who can read results."""

    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, LEVELS)

    @property
    def levels(self) -> list[dict[str, Any]]:
        return self.stored.figures or []


class M3LevelsTable(ReportTable[LevelData]):
    key = "m3-2"
    title = "Data statistics (M3, Table 2)"
    data = LevelData

    def is_of(self, data: LevelData) -> bool:
        return bool(data.levels) and Import.objects.filter(project=data.project, format="m3").exists()

    def build(self, data: LevelData) -> Table:
        columns = [Column("Level", False)]
        for title, _ in FIGURES.values():
            columns += [Column(title), Column(f"{title}, paper")]
        reasons = [_why(level) for level in data.levels if level["level"] in PUBLISHED]
        return Table(
            self.key,
            self.title,
            f"Levels of {data.project.name} beside M3's paper (Otmakhova et al. 2022, Table 2).",
            columns,
            [_row(level) for level in data.levels],
            [*reasons, METHOD, SWAPPED, *data.stored.notes()],
        )


def _row(level: dict[str, Any]) -> list[Cell]:
    published, row = PUBLISHED.get(level["level"]), [Cell(NAMES[level["level"]])]
    for name, (_, decimals) in FIGURES.items():
        value = level[name]
        row.append(Cell(value, decimals) if value is not None else Cell(None, undefined="no target has words"))
        row.append(Cell(published.paper[name], min(decimals, 1)) if published else Cell(None, undefined=NOT_AT_HAND))
    return row


def _why(level: dict[str, Any]) -> str:
    """Explain the differences of a level from the paper, if it is the published file."""
    published = PUBLISHED[level["level"]]
    is_published = all(level[name] == published.file[name] for name in ("targets", "inputs"))
    if is_published:
        return published.why
    return f"Level {NAMES[level['level']]}: this project does not have exactly the published file. {published.why}"
