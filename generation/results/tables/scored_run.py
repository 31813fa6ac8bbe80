"""A run as a row of tables."""

from dataclasses import dataclass

from measures.references import WRITTEN_LEVELS

from ...models import Run


@dataclass(frozen=True)
class ScoredRun:
    """A run with its display name."""

    run: Run
    name: str
    #: Number of summaries and number of units, both without retired ones.
    summaries: int
    items: int
    has_propositions: bool = True

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
