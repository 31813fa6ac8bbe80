"""Task kind *blind_check*: label a counterfactual without knowing the target or the kind.

It shows whether the intended aspect changed, and no other.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from api.problems import Refused
from projects.kinds import Batch, Kind, SkipReason, Value, groups
from projects.models import Assignment, Member, Project, Round, Unit

from ...models import Counterfactual, PicoElement, RewrittenText
from ...models.counterfactual import CounterfactualQuerySet
from ..label.kind import LabelKind, asks_cues
from ..units import PROPOSITION_FILTERS

REWRITTEN = "rewritten text"


class BlindCheckKind(LabelKind):
    """Polarity and modality of one rewritten text. Only its PICO tuple is shown."""

    key = "blind_check"
    title = "Label rewritten texts (blind)"
    description = "Does a rewritten text claim what it should?"
    group = groups.TEST
    order = 100
    takes_suggestions = False
    unit_types = (REWRITTEN,)
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
        return Unit.objects.filter(project=project, type=REWRITTEN).order_by("pk")

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if round.meaning.chooses != "any":
            return chosen
        return get_or_create_texts(round, [unit for unit, _ in chosen])

    def count_after_layout(self, project: Project, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        return current_counterfactuals(chosen).count()

    def check_people(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[Member], wanted: int
    ) -> None:
        """Check that enough people remain for each text. The author of a text cannot check it."""
        if len(people) > wanted:
            return
        authors = authors_of([unit for unit, _ in units])
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
        return assign_texts([unit for unit, _ in units], people, round.overlap)

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
        return Unit.objects.filter(of, type=REWRITTEN)


def current_counterfactuals(targets: Sequence[int]) -> CounterfactualQuerySet:
    """Return the current counterfactuals of some targets (unit ids)."""
    return Counterfactual.objects.current().filter(target__unit__in=targets)


def get_or_create_texts(round: Round, targets: Sequence[int]) -> list[tuple[int, int]]:
    """Return (unit, context) ids, one for each current counterfactual of these targets (unit ids).

    Missing units are created. The order is shuffled with the round's seed. Each unit is its own context, so that texts
    of one target are not shown together.
    """
    ids = list(current_counterfactuals(targets).in_corpus_order().values_list("pk", flat=True))
    units_by_text = dict(RewrittenText.objects.filter(counterfactual__in=ids).values_list("counterfactual", "unit"))
    new = [pk for pk in ids if pk not in units_by_text]
    units = Unit.objects.bulk_create(
        Unit(project_id=round.project_id, type=REWRITTEN, key=f"rewritten-{pk}", context=pk, position=0) for pk in new
    )
    RewrittenText.objects.bulk_create(
        RewrittenText(unit=unit, counterfactual_id=pk) for unit, pk in zip(units, new, strict=True)
    )
    units_by_text |= {pk: unit.pk for unit, pk in zip(units, new, strict=True)}
    Random(f"{round.seed}/blind").shuffle(ids)
    return [(units_by_text[pk], pk) for pk in ids]


def authors_of(units: Sequence[int]) -> dict[int, int]:
    """Return the author (member id) of each unit (id). Imported texts have no author."""
    written = RewrittenText.objects.filter(unit__in=units, counterfactual__answer__isnull=False)
    return dict(written.values_list("unit", "counterfactual__answer__author"))


def assign_texts(units: Sequence[int], people: Sequence[int], overlap: int) -> Mapping[int, Sequence[int]]:
    """Assign each unit (id) to ``overlap`` people (member ids) in turn, never to its author.

    `check_people` ensures that there are enough other people.
    """
    author = authors_of(units)
    assignments: dict[int, list[int]] = {}
    offset = 0
    for unit in units:
        others = [person for person in people if person != author.get(unit)]
        assignments[unit] = [others[(offset + n) % len(others)] for n in range(overlap)]
        offset += overlap
    return assignments
