"""Counterfactuals by kind and direction, and what the blind check of them came to."""

from collections import Counter
from dataclasses import dataclass

from measures.counterfactuals import Kind, Labels, allowed
from projects.tables import Cell, Column, PaperTable, Table, TableData

from ..kinds.blind_check.kind import BlindCheckKind
from ..models import Counterfactual
from ..values.in_force import labels_in_force

NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Direction:
    """A kind, and what it turned into what: modalities of the kind *modality*, polarities of the others."""

    kind: Kind
    before: str
    after: str


class Checked(TableData):
    """The counterfactuals in force of labelled targets. Nothing of them is sealed from who may read the corpus."""

    def directions(self) -> dict[Direction, tuple[int, int]]:
        """Of each direction how many texts, and how many of them changed in the intended aspect alone; 5 queries."""
        targets, texts = self._labels("label"), self._labels(BlindCheckKind.key)
        counts: Counter[Direction] = Counter()
        right: Counter[Direction] = Counter()
        rows = Counterfactual.objects.of(self.project).current()
        for kind, target, unit in rows.values_list("kind", "target__unit", "rewritten_text__unit"):
            before, after = targets.get(target), texts.get(unit)
            if before:
                direction = _direction(Kind(kind), before, after)
                counts[direction] += 1
                right[direction] += after in allowed(Kind(kind), before)
        return {direction: (n, right[direction]) for direction, n in counts.items()}

    def _labels(self, kind: str) -> dict[int, Labels]:
        """What is in force, polarity and modality, by unit id; units of which one is not decided are left out."""
        polarity, modality = (
            dict(labels_in_force(field, kind).filter(unit__project=self.project).values_list("unit", field))
            for field in ("polarity", "modality")
        )
        return {unit: Labels(said, modality[unit]) for unit, said in polarity.items() if unit in modality}


def _direction(kind: Kind, before: Labels, after: Labels | None) -> Direction:
    def aspect(labels: Labels) -> str:
        return labels.modality if kind == Kind.MODALITY or labels.polarity == "n/a" else labels.polarity

    return Direction(kind, aspect(before), aspect(after) if after else NOT_CHECKED)


class CheckedTable(PaperTable[Checked]):
    key = "counterfactuals-checked"
    title = "Counterfactuals by kind and direction"
    data = Checked

    def is_of(self, data: Checked) -> bool:
        rows = Counterfactual.objects.of(data.project).current()
        return rows.filter(rewritten_text__unit__decisions__kind=BlindCheckKind.key).exists()

    def build(self, data: Checked) -> Table:
        order = list(Kind)
        found = sorted(
            data.directions().items(), key=lambda one: (order.index(one[0].kind), one[0].before, one[0].after)
        )
        rows = [
            [Cell(d.kind.value), Cell(d.before), Cell(d.after), Cell(n), _intended(d, n, right)]
            for d, (n, right) in found
        ]  # fmt: skip
        checked = sum(n for d, (n, _) in found if d.after != NOT_CHECKED)
        right = sum(right for _, (_, right) in found)
        return Table(
            self.key, self.title,
            f"Counterfactuals in force of {data.project.name} whose target has a label. “To” is what a second person "
            "made of the text, without knowing target or kind. Intended: the aspect of the kind changed, and no other.",
            [Column("Kind", False), Column("From", False), Column("To", False), Column("Texts"), Column("Intended")],
            rows,
            [f"{checked} texts were checked; in {right} the intended aspect changed, and only it."],
        )  # fmt: skip


def _intended(direction: Direction, n: int, right: int) -> Cell:
    return Cell(None, undefined=NOT_CHECKED) if direction.after == NOT_CHECKED else Cell(right)
