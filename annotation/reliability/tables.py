"""M3's Table 9: agreement and accuracy of the raters of a reliability study."""

from functools import cached_property

from measures.means import Mean
from measures.reliability import Coefficient, Field
from projects import kinds
from projects.models import Round
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table

from ..evidence.tables import M3_FIGURE
from ..models import ReliabilityStudy
from . import queries as reliability_queries

#: Printed names of the fields of a study.
FIELD_NAMES = {"polarity": "Polarity", "modality": "Modality", "most_relevant": "Match"}
COLUMNS = (
    Column("Study", False),
    Column("Field", False),
    Column("Items"),
    Column("Raters per item"),
    Column("All agree (%)"),
    Column("Pairwise (%)"),
    Column("AC1"),
    Column("Fleiss' kappa"),
    Column("Accuracy (%)"),
    Column("Chance (%)"),
    Column("Ranker (%)"),
)


class Studies(TableContext):
    """The reliability studies of a project. Only closed rounds have figures, so that figures influence no rater."""

    @cached_property
    def studies(self) -> list[ReliabilityStudy]:
        return list(
            ReliabilityStudy.objects.filter(project=self.project)
            .select_related("labels__project", "matches__project")
            .order_by("pk")
        )


class ReliabilityTable(ReportTable[Studies]):
    key = "m3-9"
    title = "Reliability study (M3, Table 9)"
    data = Studies
    #: Same permission as the Agreement page of the rounds, which shows the same figures.
    verb = "see who answered what"

    def is_of(self, data: Studies) -> bool:
        return bool(data.studies)

    def build(self, data: Studies) -> Table:
        rows = [
            row
            for study in data.studies
            for round in reliability_queries.rounds_of(study)
            for row in _rows(study, round)
        ]
        return Table(
            self.key,
            self.title,
            f"Agreement of raters who did not see each other's answers, on a random sample of targets of "
            f"{data.project.name}. Items: targets with at least two answers.",
            COLUMNS,
            rows,
            [*_notes(data.studies)],
        )


def _rows(study: ReliabilityStudy, round: Round) -> list[list[Cell]]:
    if not reliability_queries.has_results(round):
        undefined = [Cell(None, undefined=reliability_queries.OPEN) for _ in COLUMNS[4:]]
        return [[Cell(study.name), Cell(_field_names(round)), Cell(round.units_count), Cell(study.overlap), *undefined]]
    return [_row(study, field) for field in reliability_queries.fields(round)]


def _field_names(round: Round) -> str:
    """Return the names of a round's fields, for a round without results yet."""
    return ", ".join(FIELD_NAMES.get(name, name) for name in kinds.get(round.kind).fields_of(round))


def _row(study: ReliabilityStudy, field: Field) -> list[Cell]:
    ranker = _percent(field.ranker) if field.ranker else Cell(None, undefined=reliability_queries.NO_RANKER)
    return [
        Cell(study.name),
        Cell(FIELD_NAMES.get(field.name, field.name)),
        Cell(field.items),
        Cell(study.overlap),
        _percent(field.all_agree, "no item has two answers"),
        _percent(field.pairwise, "no item has two answers"),
        _coefficient(field.ac1),
        _coefficient(field.fleiss),
        _percent(field.accuracy, "no item has a value to compare"),
        Cell(100 * field.chance),
        ranker,
    ]


def _percent(mean: Mean, undefined: str = "") -> Cell:
    if mean.value is None:
        return Cell(None, undefined=undefined or mean.undefined)
    return Cell(
        100 * mean.value, 1, ci=mean.ci and (100 * mean.ci[0], 100 * mean.ci[1]), n=mean.n, ci_reason=mean.ci_reason
    )


def _coefficient(coefficient: Coefficient) -> Cell:
    if coefficient.value is None:
        return Cell(None, undefined=coefficient.undefined)
    return Cell(coefficient.value, 2, ci=coefficient.ci, ci_reason=coefficient.ci_reason)


def _notes(studies: list[ReliabilityStudy]) -> list[str]:
    notes = [
        "Brackets: 95% CI clustered by review, because targets of one review are similar.",
        "All agree: items with one value from all raters. Pairwise: equal pairs of answers. Accuracy: answers equal to "
        "the current label or, for matches, to the mapped evidence; each item has the same weight. "
        "Chance: a random value, or a random one of the four sentences.",
        "Labels were collected without cues. Ranker: how often it ranks the evidence first of the same four.",
    ]
    if any(study.matches for study in studies):
        notes.append(M3_FIGURE)
    notes += [
        f"{study.name}: k = {study.overlap}"
        + (f", seed {study.seed}." if study.is_over else ".")
        + (f" Candidates selected by {by}." if (by := _nearest_by(study)) else "")
        + (f" No matches: {study.no_matches}" if study.no_matches else "")
        for study in studies
    ]
    return notes


def _nearest_by(study: ReliabilityStudy) -> str:
    return str(study.matches.options.get("nearest_by", "")) if study.matches else ""
