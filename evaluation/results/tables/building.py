"""Shared parts of the rating tables: unblinded rounds with their stored results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Count

from evaluation.models import RatingDesign, RatingFigures, RatingSource
from evaluation.results.computed import RULES, open_designs, read_figures
from evaluation.results.seen import seen_sources
from generation.results.tables.seen import name_cell
from measures.ratings import RULE
from measures.ratings.judgements import DERIVED
from projects.models import Member, Project
from projects.permissions import may
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Missing, Table

Json = dict[str, Any]
ALL, KEPT = "all", "kept"
ROUND = Column("Round", False)
NO_INTERVALS = "no interval"
INTERVALS = (
    "Brackets: 95% confidence intervals clustered by review, for these raters. A text counts "
    "once, as the mean over its raters; identical texts of several systems count for each of "
    "them."
)


@dataclass(frozen=True)
class RatedRound:
    """An unblinded round. ``figures`` are its stored results, or None if they are not computed yet."""

    design: RatingDesign
    figures: Json | None
    rule: str
    #: Number of sources that a system's model has seen in trainings, and of all sources, by system.
    seen: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    #: Number of sources that ``figures`` leave out, because the model of a system has seen them.
    left_out: int = 0

    def system_cell(self, system: str) -> Cell:
        """Return the name of a system, marked if its model has seen sources of the round."""
        return name_cell(system, *self.seen.get(system, (0, 0)))

    @property
    def name(self) -> str:
        return self.design.round.name

    def called(self, criterion: str) -> str:
        named: str = self.figures["names"].get(criterion, criterion) if self.figures else criterion
        return named

    def ways(self) -> Iterator[tuple[str, Json]]:
        """Yield the results that tables print: with every rating, and after the declared exclusions."""
        for way in (ALL, KEPT):
            if self.figures and self.figures[way]:
                yield way, self.figures[way]

    @property
    def cited(self) -> Json:
        """The results after the exclusions that the round declared."""
        assert self.figures is not None
        found: Json = self.figures[KEPT] or self.figures[ALL]
        return found


class Ratings(TableContext):
    """The rounds whose results ``member`` may see, without those with an embargoed run.

    Runs a fixed number of queries.
    """

    takes_unseen = True
    of_rounds = True

    def __init__(
        self, project: Project, member: Member | None = None, *, published: bool = False, unseen: bool = False
    ) -> None:
        super().__init__(project, member, published=published)
        designs = list(open_designs(project, member, published=published))
        # Keep rounds of one protocol together, in the order of its first round.
        first: dict[int, int] = {}
        for design in designs:
            first.setdefault(design.version.protocol_id, design.pk)
        designs.sort(key=lambda design: first[design.version.protocol_id])
        kept = {each.design_id: each for each in RatingFigures.objects.filter(design__in=designs)}
        seen = seen_sources(project, designs)
        totals = _source_counts(seen)
        self.rounds = []
        for design in designs:
            found, by_system = kept.get(design.pk), seen.get(design.pk, {})
            figures = read_figures(found.figures, unseen=unseen) if found else None
            counts = {name: (len(ids), totals[design.pk]) for name, ids in by_system.items()}
            left_out = len(set().union(*by_system.values()))
            marks = ({}, left_out) if unseen else (counts, 0)
            self.rounds.append(RatedRound(design, figures, found.rule if found else "", *marks))

    @cached_property
    def computed_rounds(self) -> list[RatedRound]:
        return [each for each in self.rounds if each.figures]

    @property
    def shows_raters(self) -> bool:
        return self.member is None or may(self.member, "see who answered what")

    def missing(self) -> list[Missing]:
        """Return the rounds whose results are missing or computed by an earlier rule."""
        return [
            Missing(
                f"results of {each.name}",
                f"manage.py compute_ratings --project {self.project.slug} --round {each.design.round_id}",
                f"/projects/{self.project.slug}/results",
                RULES if each.figures else "",
            )
            for each in self.rounds
            if each.rule != RULE
        ]

    def notes(self, rounds: Sequence[RatedRound] | None = None) -> list[str]:
        """Return notes on the protocol and design of each round, and on its exclusions."""
        notes = []
        for each in self.computed_rounds if rounds is None else rounds:
            version = each.design.version
            notes.append(
                f"{each.name}: {version.protocol.name}, version {version.number}; design {each.design.digest[:12]}."
            )
            if each.left_out:
                notes.append(
                    f"{each.name}: left out because used to train or choose a model: {each.left_out} of the sources."
                )
            for rule in (each.figures or {})["left_out"]:
                whose = f" of {len(rule['raters'])} raters" if rule["raters"] else ""
                notes.append(f"{each.name}: {rule['judgements']} ratings{whose} excluded ({rule['rule']}).")
        return notes


def _source_counts(seen: Mapping[int, object]) -> dict[int, int]:
    """Return the number of sources of each of these designs."""
    rows = RatingSource.objects.filter(design__in=seen) if seen else RatingSource.objects.none()
    return dict(rows.order_by().values_list("design").annotate(n=Count("pk")))


class RatingsTable(ReportTable[Ratings]):
    data = Ratings

    def is_of(self, data: Ratings) -> bool:
        return bool(data.rounds)


def ends(interval: Sequence[float] | None, scale: float = 1.0) -> tuple[float, float] | None:
    return (interval[0] * scale, interval[1] * scale) if interval else None


def figure(value: float | None, why: str, decimals: int = 2, **others: Any) -> Cell:
    """Return a cell with a value, or with the reason why there is none."""
    return Cell(None, undefined=why or "no value") if value is None else Cell(value, decimals, **others)


def reason(row: Json, key: str = "ci_reason") -> str:
    """Return why the interval of a figure is withheld. Results stored by an earlier rule do not contain a reason."""
    return row.get(key) or ""


def per_cent(part: float | None) -> float | None:
    return None if part is None else 100.0 * part


def share(row: Json) -> Cell:
    """Return the cell of a share in per cent, with its count and denominator."""
    if row["value"] is None:
        return Cell(None, undefined=row["undefined"])
    return Cell(
        100 * row["value"], 1, ends(row["ci"], 100), n=row["n"], count=round(row["count"], 2), ci_reason=reason(row)
    )


LETTERS = (
    "Systems that share a letter do not differ significantly (permutation test over reviews, "
    "Holm over the pairs of a criterion, alpha = .05)."
)


def asked_criteria(figures: Json) -> Iterator[Json]:
    """Yield the criteria that raters answered, without derived ones."""
    return (each for each in figures["criteria"] if DERIVED not in each["criterion"])


def _pointing(each: RatedRound, criterion: Json) -> str:
    """Return the name of a criterion. An arrow marks criteria for which lower is better."""
    name = each.called(criterion["criterion"])
    return f"{name} ↓" if criterion["better"] == "lower" else name


class CriteriaTable(RatingsTable):
    key = "ratings"
    title = "Human ratings by system and criterion"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.computed_rounds for row in self._rows(each)]
        return Table(
            self.key,
            self.title,
            (
                f"Ratings in the unblinded rounds of {data.project.name}: means of numeric scales; "
                "percentages, with counts, of good answers or, marked with an arrow, of faults (lower is "
                "better). n is the number of rated texts."
            ),
            [
                ROUND,
                Column("Ratings", False),
                Column("Criterion", False),
                Column("System", False),
                Column("Mean"),
                Column("Share"),
                Column("Letters", False),
                Column("n"),
                Column("Sources"),
                Column("N/A"),
            ],
            rows,
            [INTERVALS, LETTERS, *data.notes()],
            data.missing(),
        )

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for way, figures in each.ways():
            for criterion in asked_criteria(figures):
                for row in criterion["systems"]:
                    yield [
                        Cell(each.name),
                        Cell(way),
                        Cell(_pointing(each, criterion)),
                        each.system_cell(row["system"]),
                        *self._figure(criterion["kind"], row),
                        Cell(criterion["letters"].get(row["system"], "")),
                        Cell(row["n"]),
                        Cell(row["sources"]),
                        Cell(row["na"]),
                    ]

    def _figure(self, kind: str, row: Json) -> list[Cell]:
        """Return the cells for mean and share. One of them is empty."""
        if row["value"] is None:
            none = Cell(None, undefined=row["undefined"])
            return [Cell(""), none] if kind == "share" else [none, Cell("")]
        if kind == "share":
            return [Cell(""), share(row)]
        return [Cell(row["value"], 2, ends(row["ci"]), ci_reason=reason(row)), Cell("")]


class DifferencesTable(RatingsTable):
    key = "rating-differences"
    title = "Differences between systems"
    beside = "ratings"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.computed_rounds for row in self._rows(each)]
        return Table(
            self.key,
            self.title,
            (
                "First system minus second on the sources that both summarise, after the declared "
                "exclusions; shares as proportions. n is the number of these texts."
            ),
            [
                ROUND,
                Column("Criterion", False),
                Column("First", False),
                Column("Second", False),
                Column("Difference"),
                Column("p"),
                Column("p (Holm)"),
                Column("Beside", False),
                Column("p beside"),
                Column("n"),
            ],
            rows,
            [
                INTERVALS,
                "p: two-sided permutation test over sources; Holm over the pairs of a criterion.",
                (
                    "Also given: Wilcoxon signed-rank test over reviews, without zero differences; McNemar's "
                    "exact test for shares."
                ),
            ],
            data.missing(),
            beside=self.beside,
        )

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for criterion in asked_criteria(each.cited):
            for pair in criterion["pairs"]:
                compared, name = pair["comparison"], "Wilcoxon" if "wilcoxon" in pair else "McNemar"
                difference, test = compared["difference"], pair[name.lower()]
                why = difference["undefined"]
                yield [
                    Cell(each.name),
                    Cell(each.called(criterion["criterion"])),
                    Cell(pair["first"]),
                    Cell(pair["second"]),
                    figure(difference["value"], why, 3, ci=ends(difference["ci"]), ci_reason=reason(difference)),
                    figure(compared["p"], why, 4, is_p=True),
                    figure(pair["holm"], why, 4, is_p=True),
                    Cell(name),
                    figure(test["p"], test["undefined"], 4, is_p=True),
                    Cell(difference["n"]),
                ]
