"""M3's Table 9: how far people agree in a reliability study, and how often they are right."""

from functools import cached_property

from measures.means import Mean
from measures.reliability import Coefficient, Field
from projects import kinds
from projects.models import Round
from projects.tables import Cell, Column, PaperTable, Table, TableData

from ..models import ReliabilityStudy
from ..values import reliability

#: What the fields of a study are called in print.
CALLED = {"polarity": "Polarity", "modality": "Modality", "most_relevant": "Match"}
COLUMNS = (
    Column("Study", False), Column("Field", False), Column("Items"), Column("Raters an item"), Column("All agree (%)"),
    Column("Pairwise (%)"), Column("AC1"), Column("Fleiss' kappa"), Column("Accuracy (%)"), Column("Chance (%)"),
    Column("Ranker (%)"),
)  # fmt: skip
#: M3 chose by this figure which encoder its candidates are nearest by.
PRINTED = (
    "Printed in M3, of its own data and not computed here: .522, the accuracy of the best of 15 encoders at finding "
    "a target's evidence in the study's abstract."
)


class Studies(TableData):
    """The reliability studies of a project. Figures are of closed rounds: nobody is to be swayed by them."""

    @cached_property
    def studies(self) -> list[ReliabilityStudy]:
        return list(
            ReliabilityStudy.objects.filter(project=self.project)
            .select_related("labels__project", "matches__project")
            .order_by("pk")
        )


class ReliabilityTable(PaperTable[Studies]):
    key = "m3-9"
    title = "Reliability study (M3, Table 9)"
    data = Studies
    #: As the Agreement page of its rounds, whose figures these are.
    verb = "see who answered what"

    def is_of(self, data: Studies) -> bool:
        return bool(data.studies)

    def build(self, data: Studies) -> Table:
        rows = [row for study in data.studies for round in reliability.rounds_of(study) for row in _rows(study, round)]
        return Table(
            self.key, self.title,
            f"Agreement of people who did not see one another's answers, on targets of {data.project.name} that a seed "
            "sampled. Items: those with two answers or more.",
            COLUMNS, rows, [*_notes(data.studies)],
        )  # fmt: skip


def _rows(study: ReliabilityStudy, round: Round) -> list[list[Cell]]:
    if not reliability.is_told(round):
        undefined = [Cell(None, undefined=reliability.OPEN) for _ in COLUMNS[4:]]
        return [[Cell(study.name), Cell(_called(round)), Cell(round.units_count), Cell(study.overlap), *undefined]]
    return [_row(study, field) for field in reliability.fields(round)]


def _called(round: Round) -> str:
    """The fields of a round, of which nothing can be said yet."""
    return ", ".join(CALLED.get(name, name) for name in kinds.get(round.kind).fields_of(round))


def _row(study: ReliabilityStudy, field: Field) -> list[Cell]:
    ranker = _percent(field.ranker) if field.ranker else Cell(None, undefined=reliability.NO_RANKER)
    return [
        Cell(study.name), Cell(CALLED.get(field.name, field.name)), Cell(field.items), Cell(study.overlap),
        _percent(field.all_agree, "no item has two answers"), _percent(field.pairwise, "no item has two answers"),
        _coefficient(field.ac1), _coefficient(field.fleiss), _percent(field.accuracy, "no item has a value to compare"),
        Cell(100 * field.chance), ranker,
    ]  # fmt: skip


def _percent(mean: Mean, undefined: str = "") -> Cell:
    if mean.value is None:
        return Cell(None, undefined=undefined or mean.undefined)
    return Cell(100 * mean.value, 1, ci=mean.ci and (100 * mean.ci[0], 100 * mean.ci[1]), n=mean.n)


def _coefficient(found: Coefficient) -> Cell:
    if found.value is None:
        return Cell(None, undefined=found.undefined)
    return Cell(found.value, 2, ci=found.ci)


def _notes(studies: list[ReliabilityStudy]) -> list[str]:
    found = [
        "In brackets 95 % intervals over reviews, whose targets are alike, wherever a review has several. There is "
        "none of fewer than three reviews, and none of a coefficient that all items have alike.",
        "All agree: items to which everybody gave one value. Pairwise: pairs of answers that are the same. Accuracy: "
        "answers that are the current label, or the mapped evidence of a match; an item counts once. "
        "Chance: one of the values, or one of the four sentences, at random.",
        "Labels were given without cues. Ranker: how often it has the evidence first of the same four.",
    ]
    if any(study.matches for study in studies):
        found.append(PRINTED)
    found += [
        f"{study.name}: k = {study.overlap}"
        + (f", seed {study.seed}." if study.is_over else ".")
        + (f" Candidates nearest by {by}." if (by := _nearest_by(study)) else "")
        + (f" No matches: {study.no_matches}" if study.no_matches else "")
        for study in studies
    ]
    return found


def _nearest_by(study: ReliabilityStudy) -> str:
    return str(study.matches.options.get("nearest_by", "")) if study.matches else ""
