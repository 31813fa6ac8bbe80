"""What the formats notice while they write, for the manifest, the statistics and the card: the figures are those of the
rows that were written, whatever the data base holds besides."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class LevelFigures:
    """M3's Table 2 of one level, counted row by row; memory grows with the ids of reviews and studies only."""

    level: str
    file: str
    targets: int = 0
    inputs: int = 0
    reviews: set[str] = field(default_factory=set)
    studies: set[str] = field(default_factory=set)
    ratios: float = 0.0
    #: Targets that have words, which is what compression is a mean over.
    with_words: int = 0

    def add(self, *, review: str, target: str, inputs: list[tuple[str, str]]) -> None:
        """One target with its inputs as (study, text). Words are what white space separates."""
        self.targets += 1
        self.inputs += len(inputs)
        self.reviews.add(review)
        self.studies.update(study for study, _ in inputs)
        if words := len(target.split()):
            self.ratios += sum(len(text.split()) for _, text in inputs) / words
            self.with_words += 1

    def as_json(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "file": self.file,
            "targets": self.targets,
            "inputs": self.inputs,
            "reviews": len(self.reviews),
            "studies": len(self.studies),
            "inputs_per_target": self.inputs / self.targets if self.targets else None,
            "compression": self.ratios / self.with_words if self.with_words else None,
            "n": {"inputs_per_target": self.targets, "compression": self.with_words},
        }


@dataclass
class Notes:
    """Filled by the formats in the order in which they are listed."""

    levels: list[LevelFigures] = field(default_factory=list)
    #: Counts of released values by name ("target polarity", "relation", ...).
    values: dict[str, Counter[str]] = field(default_factory=dict)
    #: Goes into the manifest's counts.
    counts: dict[str, Any] = field(default_factory=dict)

    def count(self, name: str, value: str) -> None:
        self.values.setdefault(name, Counter())[value] += 1
