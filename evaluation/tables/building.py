"""What the tables of ratings share: the unblinded rounds with the figures that were stored of them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from measures.ratings import RULE
from projects.models import Member, Project
from projects.permissions import may
from projects.tables import Cell, Column, Missing, PaperTable, TableData

from ..models import RatingDesign, RatingFigures
from ..results.reckoned import RULES, open_designs, whole

Json = dict[str, Any]
ALL, KEPT = "all", "kept"
ROUND = Column("Round", False)
NO_INTERVALS = "no interval"
INTERVALS = (
    "In brackets 95 % intervals over reviews, whose texts are alike, for these raters. A text counts once, "
    "as the mean of its raters; a text that several systems wrote alike counts for each."
)


@dataclass(frozen=True)
class RatedRound:
    """An unblinded round; ``figures``: as they were stored, None where no worker has reckoned them."""

    design: RatingDesign
    figures: Json | None
    rule: str

    @property
    def name(self) -> str:
        return self.design.round.name

    def called(self, criterion: str) -> str:
        named: str = self.figures["names"].get(criterion, criterion) if self.figures else criterion
        return named

    def ways(self) -> Iterator[tuple[str, Json]]:
        """The figures that tables print: of everything, and without what declared rules leave out."""
        for way in (ALL, KEPT):
            if self.figures and self.figures[way]:
                yield way, self.figures[way]

    @property
    def cited(self) -> Json:
        """Those by the rules that the round declared."""
        assert self.figures is not None
        found: Json = self.figures[KEPT] or self.figures[ALL]
        return found


class Ratings(TableData):
    """The rounds whose results ``member`` may see, in two queries: without those of which a run is sealed."""

    def __init__(self, project: Project, member: Member | None = None, *, published: bool = False) -> None:
        super().__init__(project, member, published=published)
        designs = list(open_designs(project, member, published=published))
        kept = {each.design_id: each for each in RatingFigures.objects.filter(design__in=designs)}
        self.rounds = [
            RatedRound(design, whole(json.loads(found.figures)) if found else None, found.rule if found else "")
            for design in designs
            for found in [kept.get(design.pk)]
        ]

    @cached_property
    def reckoned(self) -> list[RatedRound]:
        return [each for each in self.rounds if each.figures]

    @property
    def shows_raters(self) -> bool:
        return self.member is None or may(self.member, "see who answered what")

    def missing(self) -> list[Missing]:
        """The rounds that a worker has still to reckon, or to reckon by today's rule."""
        return [
            Missing(
                f"figures of the ratings in {each.name}",
                f"manage.py reckon_ratings --project {self.project.slug} --round {each.design.round_id}",
                f"/projects/{self.project.slug}/results", RULES if each.figures else "",
            )
            for each in self.rounds
            if each.rule != RULE
        ]  # fmt: skip

    def notes(self, rounds: Sequence[RatedRound] | None = None) -> list[str]:
        """What each round is by, and what its declared rules leave out."""
        said = []
        for each in self.reckoned if rounds is None else rounds:
            version = each.design.version
            said.append(
                f"{each.name}: {version.protocol.name}, version {version.number}; design {each.design.digest[:12]}."
            )
            for rule in (each.figures or {})["left_out"]:
                whose = f" of {len(rule['raters'])} raters" if rule["raters"] else ""
                said.append(f"{each.name}: {rule['judgements']} ratings{whose} left out ({rule['rule']}).")
        return said


class RatingsTable(PaperTable[Ratings]):
    data = Ratings

    def is_of(self, data: Ratings) -> bool:
        return bool(data.rounds)


def ends(interval: Sequence[float] | None, scale: float = 1.0) -> tuple[float, float] | None:
    return (interval[0] * scale, interval[1] * scale) if interval else None


def figure(value: float | None, why: str, decimals: int = 2, **others: Any) -> Cell:
    """A figure, or why there is none."""
    return Cell(None, undefined=why or "there is none") if value is None else Cell(value, decimals, **others)


def per_cent(part: float | None) -> float | None:
    return None if part is None else 100.0 * part


def share(row: Json) -> Cell:
    """A share of `system_figures` in per cent, with its count and its own denominator."""
    if row["value"] is None:
        return Cell(None, undefined=row["undefined"])
    return Cell(100 * row["value"], 1, ends(row["ci"], 100), n=row["n"], count=round(row["count"], 2))
