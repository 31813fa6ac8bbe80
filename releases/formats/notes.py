"""Notes that formats record while writing, for the manifest, the statistics and the data card.

The figures count the rows that were written, not other rows of the database.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sql.temporary import DistinctValues

from ..methods.facts.agreement import RoundAgreement


@dataclass
class LevelFigures:
    """M3's Table 2 for one level, counted row by row. Needs constant memory."""

    level: str
    file: str
    targets: int = 0
    inputs: int = 0
    distinct: DistinctValues = field(default_factory=DistinctValues)
    ratios: float = 0.0
    #: Targets with at least one word, over which compression is averaged.
    with_words: int = 0

    def add(self, *, review: str, target: str, inputs: list[tuple[str, str]]) -> None:
        """Add one target with its inputs as (study, text). Words are separated by white space."""
        self.targets += 1
        self.inputs += len(inputs)
        self.distinct.add("reviews", [review])
        self.distinct.add("studies", (study for study, _ in inputs))
        if words := len(target.split()):
            self.ratios += sum(len(text.split()) for _, text in inputs) / words
            self.with_words += 1

    def as_json(self) -> dict[str, Any]:
        distinct = self.distinct.count()
        return {
            "level": self.level,
            "file": self.file,
            "targets": self.targets,
            "inputs": self.inputs,
            "reviews": distinct.get("reviews", 0),
            "studies": distinct.get("studies", 0),
            "inputs_per_target": self.inputs / self.targets if self.targets else None,
            "compression": self.ratios / self.with_words if self.with_words else None,
            "n": {"inputs_per_target": self.targets, "compression": self.with_words},
        }


@dataclass
class Notes:
    """Notes that the formats fill in the order of their list."""

    #: Whether the release has the texts of its sources.
    has_texts: bool = True
    levels: list[LevelFigures] = field(default_factory=list)
    #: Counts of released values by name ("target polarity", "relation", ...).
    values: dict[str, Counter[str]] = field(default_factory=dict)
    #: Additional counts of the manifest.
    counts: dict[str, Any] = field(default_factory=dict)
    #: Agreement of the reported rounds, by id, so that no report is computed twice.
    agreement: dict[int, RoundAgreement] = field(default_factory=dict)
    #: Figures of guideline versions by id (`projects.guideline_changes.queries.figures`), for the methods text.
    guideline_changes: dict[int, dict[str, Any]] = field(default_factory=dict)

    def count(self, name: str, value: str) -> None:
        self.values.setdefault(name, Counter())[value] += 1
