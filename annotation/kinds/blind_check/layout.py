"""Units of a blind check: the current counterfactuals of some targets, in an order that reveals nothing."""

from collections.abc import Mapping, Sequence
from random import Random

from projects.models import Round, Unit

from ...models import Counterfactual, RewrittenText
from ...models.counterfactual import CounterfactualQuerySet

REWRITTEN = "rewritten text"


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


def authors(units: Sequence[int]) -> dict[int, int]:
    """Return the author (member id) of each unit (id). Imported texts have no author."""
    written = RewrittenText.objects.filter(unit__in=units, counterfactual__answer__isnull=False)
    return dict(written.values_list("unit", "counterfactual__answer__author"))


def assign_texts(units: Sequence[int], people: Sequence[int], overlap: int) -> Mapping[int, Sequence[int]]:
    """Assign each unit (id) to ``overlap`` people (member ids) in turn, never to its author.

    `check_people` ensures that there are enough other people.
    """
    author = authors(units)
    assignments: dict[int, list[int]] = {}
    offset = 0
    for unit in units:
        others = [person for person in people if person != author.get(unit)]
        assignments[unit] = [others[(offset + n) % len(others)] for n in range(overlap)]
        offset += overlap
    return assignments
