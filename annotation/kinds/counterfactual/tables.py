"""Counterfactuals by kind and direction, with the results of their blind check."""

from collections import Counter
from dataclasses import dataclass

from annotation.clusters.gold import current_labels
from measures.counterfactuals import Kind, Labels, allowed
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table

from ...models import Counterfactual
from ..blind_check.kind import BlindCheckKind

NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Direction:
    """A kind with the value before and after: modalities for the kind *modality*, polarities for the others."""

    kind: Kind
    before: str
    after: str


class Checked(TableContext):
    """The current counterfactuals of labelled targets. Everyone who may read the corpus may see them."""

    def directions(self) -> dict[Direction, tuple[int, int]]:
        """Return (texts, texts in which only the intended aspect changed) by direction. 5 queries."""
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
        """Return the current polarity and modality by unit id. Omit units for which one of them is not decided."""
        polarity, modality = (
            dict(current_labels(field, kind).filter(unit__project=self.project).values_list("unit", field))
            for field in ("polarity", "modality")
        )
        return {unit: Labels(value, modality[unit]) for unit, value in polarity.items() if unit in modality}


def _direction(kind: Kind, before: Labels, after: Labels | None) -> Direction:
    def aspect(labels: Labels) -> str:
        return labels.modality if kind == Kind.MODALITY or labels.polarity == "n/a" else labels.polarity

    return Direction(kind, aspect(before), aspect(after) if after else NOT_CHECKED)


class CheckedTable(ReportTable[Checked]):
    key = "counterfactuals-checked"
    title = "Counterfactuals by kind and direction"
    data = Checked

    def is_of(self, data: Checked) -> bool:
        rows = Counterfactual.objects.of(data.project).current()
        return rows.filter(rewritten_text__unit__decisions__kind=BlindCheckKind.key).exists()

    def build(self, data: Checked) -> Table:
        order = list(Kind)
        directions = sorted(
            data.directions().items(), key=lambda item: (order.index(item[0].kind), item[0].before, item[0].after)
        )
        rows = [
            [Cell(d.kind.value), Cell(d.before), Cell(d.after), Cell(n), _intended(d, n, right)]
            for d, (n, right) in directions
        ]
        checked = sum(n for d, (n, _) in directions if d.after != NOT_CHECKED)
        right = sum(right for _, (_, right) in directions)
        return Table(
            self.key,
            self.title,
            f"Current counterfactuals of {data.project.name} whose target has a label. “To” is the "
            "label that a second person "
            "gave without knowing the target or the kind. Intended: only the aspect of the kind changed.",
            [Column("Kind", False), Column("From", False), Column("To", False), Column("Texts"), Column("Intended")],
            rows,
            [f"{checked} texts were checked; in {right} of them, only the intended aspect changed."],
        )


def _intended(direction: Direction, n: int, right: int) -> Cell:
    return Cell(None, undefined=NOT_CHECKED) if direction.after == NOT_CHECKED else Cell(right)
