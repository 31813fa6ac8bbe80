"""Task kind *blind_check*: label a counterfactual without knowing the target or the kind (TASKS: counterfactual).

It shows whether the intended aspect changed, and no other.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from api.problems import Refused
from projects.kinds import Batch, Kind, SkipReason, Value
from projects.models import Assignment, Member, Project, Round, Unit

from ...models import Counterfactual, PicoElement, RewrittenText
from ..label.kind import LabelKind, asks_cues
from ..units import PROPOSITION_FILTERS
from . import layout


class BlindCheckKind(LabelKind):
    """Polarity and modality of one rewritten text. Only its PICO tuple is shown."""

    key = "blind_check"
    title = "Label rewritten texts (blind)"
    order = 100
    unit_types = (layout.REWRITTEN,)
    blind = True
    judged_by = ()
    filters = PROPOSITION_FILTERS
    sheet = None
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("known", "I wrote it, or know the target"),
        *(reason for reason in LabelKind.skip_reasons if reason.code != "pico mismatch"),
    )

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return the targets that have a current counterfactual."""
        current = Counterfactual.objects.current().filter(target__unit=OuterRef("pk"))
        return super().units(project).filter(Exists(current))

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Return the texts that are units of a blind check."""
        return Unit.objects.filter(project=project, type=layout.REWRITTEN).order_by("pk")

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if round.meaning.chooses != "any":
            return chosen
        return layout.get_or_create_texts(round, [unit for unit, _ in chosen])

    def count_after_layout(self, project: Project, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        return layout.current_counterfactuals(chosen).count()

    def check_people(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[Member], wanted: int
    ) -> None:
        """Check that enough people remain for each text. The author of a text cannot check it."""
        if len(people) > wanted:
            return
        authors = layout.authors([unit for unit, _ in units])
        for member in people:
            if own_texts := sum(author == member.pk for author in authors.values()):
                lacking = wanted - (len(people) - 1)
                raise Refused.field(
                    "people",
                    f"{member.name} wrote {own_texts} of the {len(units)} texts and cannot check them. "
                    f"Add {lacking} more {'person' if lacking == 1 else 'people'}.",
                )

    def deal(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[int]
    ) -> Mapping[int, Sequence[int]] | None:
        """Assign each text to people other than its author.

        Return None for block sampling or repeats. In a shared queue, `check` refuses the author's answer.
        """
        if round.sampling.get("block") or round.sampling.get("repeats"):
            return None
        return layout.assign_texts([unit for unit, _ in units], people, round.overlap)

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        rows = RewrittenText.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", "counterfactual__text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        rows = RewrittenText.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", "counterfactual__target__cluster__review__pmid"))

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        rows = RewrittenText.objects.filter(unit__in=[assignment.unit_id for assignment in assignments])
        pico = Prefetch("counterfactual__target__cluster__pico", PicoElement.objects.order_by("id"))
        texts = rows.select_related("counterfactual__target__cluster").prefetch_related(pico)
        return Batch({row.unit_id: row for row in texts})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the text and its tuple. The card does not show the target."""
        counterfactual: Counterfactual = batch.rows[assignment.unit_id].counterfactual
        return {
            "text": counterfactual.text,
            "role": "target",
            "pico": [
                self._element(element, counterfactual.text) for element in counterfactual.target.cluster.pico.all()
            ],
            "context": {"key": "", "index": 1, "size": 1},
            "candidates": self.suggested(counterfactual.text, round),
            "asks_cues": asks_cues(round),
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        author = RewrittenText.objects.filter(
            unit=assignment.unit_id, counterfactual__answer__author=assignment.person_id
        )
        if assignment.person_id and author.exists():
            raise Refused.field("value", "You wrote this text. Skip it, so that another person checks it.")
        super().check(assignment, value)

    def text_of(self, unit: Unit) -> str:
        return self.texts([unit.pk])[unit.pk]

    def migrate(self, value: Value, unit: Unit) -> Value:
        return Kind.migrate(self, value, unit)

    def dependents_of(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """Return the texts of targets whose tuple changed, because the card shows the tuple."""
        of = Q(rewritten_text__counterfactual__target__unit__in=units)
        return Unit.objects.filter(of, type=layout.REWRITTEN)
