"""A run as a row of tables."""

from dataclasses import dataclass

from measures.references import WRITTEN_LEVELS
from projects.reports.table import Cell

from ...models import Run
from .seen import name_cell


@dataclass(frozen=True)
class ScoredRun:
    """A run with its display name."""

    run: Run
    name: str
    #: Number of summaries and number of units, both without retired ones.
    summaries: int
    items: int
    has_propositions: bool = True
    #: Number of units that the model has seen in trainings.
    seen: int = 0

    @property
    def name_cell(self) -> Cell:
        return name_cell(self.name, self.seen, self.items)

    @property
    def level(self) -> str:
        return self.run.version.level

    @property
    def is_written(self) -> bool:
        """Whether its references are written summaries."""
        return self.level in WRITTEN_LEVELS

    @property
    def label(self) -> str:
        return f"{self.name} ({self.level})"
