"""The task kind *blind_check*: a counterfactual labelled like any proposition, by a person who knows neither the target
nor the kind. Did the intended aspect change, and only it? (TASKS: counterfactual)"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from api.problems import Refused
from projects.kinds import Batch, Kind, SkipReason, Value
from projects.models import Assignment, Member, Project, Round, Unit

from ...models import Counterfactual, PicoSlot, RewrittenText
from ..label.kind import LabelKind, asks_cues
from ..propositions import FILTERS
from . import layout


class BlindCheckKind(LabelKind):
    """Polarity and modality of one rewritten text, its PICO given and nothing else."""

    key = "blind_check"
    title = "Label rewritten texts (blind)"
    order = 100
    unit_types = (layout.REWRITTEN,)
    tables = (*LabelKind.tables, RewrittenText)
    blind = True
    judged_by = ()
    filters = FILTERS
    sheet = None
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("known", "I wrote it, or know the target"),
        *(reason for reason in LabelKind.skip_reasons if reason.code != "pico mismatch"),
    )

    def units(self, project: Project) -> QuerySet[Unit]:
        """The targets that have a counterfactual in force."""
        there = Counterfactual.objects.current().filter(target__unit=OuterRef("pk"))
        return super().units(project).filter(Exists(there))

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Texts that were labelled."""
        return Unit.objects.filter(project=project, type=layout.REWRITTEN).order_by("pk")

    def lay_out(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if round.meaning.chooses != "any":
            return chosen
        return layout.units_of(round, [unit for unit, _ in chosen])

    def units_after_layout(self, project: Project, chosen: int, plan: Mapping[str, Any]) -> int:
        return chosen * 5

    def check_people(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[Member], wanted: int
    ) -> None:
        """Whoever wrote a text does not check it: there must be enough others."""
        if len(people) > wanted:
            return
        authors = layout.authors([unit for unit, _ in units])
        for member in people:
            if mine := sum(author == member.pk for author in authors.values()):
                lacking = wanted - (len(people) - 1)
                raise Refused.field(
                    "people", f"{member.user.name} wrote {mine} of the {len(units)} texts and cannot check them: "
                    f"add {lacking} more {'person' if lacking == 1 else 'people'}."
                )  # fmt: skip

    def deal(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[int]
    ) -> Mapping[int, Sequence[int]] | None:
        """Never to whoever wrote a text, as far as there are others. In a pool `check` refuses."""
        if round.sampling.get("block") or round.sampling.get("repeats"):
            return None
        return layout.dealt([unit for unit, _ in units], people, round.overlap)

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        rows = RewrittenText.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", "counterfactual__text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        rows = RewrittenText.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", "counterfactual__target__cluster__review__pmid"))

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        rows = RewrittenText.objects.filter(unit__in=[slot.unit_id for slot in slots])
        pico = Prefetch("counterfactual__target__cluster__pico", PicoSlot.objects.order_by("id"))
        found = rows.select_related("counterfactual__target__cluster").prefetch_related(pico)
        return Batch({row.unit_id: row for row in found})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """The text and the tuple it is about. That there is a target is all that is known of it."""
        written: Counterfactual = batch.rows[slot.unit_id].counterfactual
        return {
            "text": written.text,
            "role": "target",
            "pico": [self._slot(one, written.text) for one in written.target.cluster.pico.all()],
            "context": {"key": "", "index": 1, "size": 1},
            "candidates": self.suggested(written.text, round),
            "asks_cues": asks_cues(round),
        }

    def check(self, slot: Assignment, value: Value) -> None:
        author = RewrittenText.objects.filter(unit=slot.unit_id, counterfactual__answer__author=slot.person_id)
        if slot.person_id and author.exists():
            raise Refused.field("value", "You wrote this text: skip it, and another person checks it.")
        super().check(slot, value)

    def text_of(self, unit: Unit) -> str:
        return self.texts([unit.pk])[unit.pk]

    def carry(self, value: Value, unit: Unit) -> Value:
        return Kind.carry(self, value, unit)

    def hanging_on(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """Texts of targets whose tuple changed: it was shown."""
        of = Q(rewritten_text__counterfactual__target__unit__in=units)
        return Unit.objects.filter(of, type=layout.REWRITTEN)
