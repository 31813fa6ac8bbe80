"""The units of a blind check: the counterfactuals in force of some targets, in an order that tells nothing."""

from collections.abc import Mapping, Sequence
from random import Random

from projects.models import Round, Unit

from ...models import Counterfactual, RewrittenText

REWRITTEN = "rewritten text"


def units_of(round: Round, targets: Sequence[int]) -> list[tuple[int, int]]:
    """A unit for each counterfactual in force of these targets (unit ids), made where there is none yet, shuffled by
    the round's seed. Each is a context of its own: texts of one target do not come together."""
    found = Counterfactual.objects.current().filter(target__unit__in=targets).in_corpus_order()
    ids = list(found.values_list("pk", flat=True))
    there = dict(RewrittenText.objects.filter(counterfactual__in=ids).values_list("counterfactual", "unit"))
    new = [pk for pk in ids if pk not in there]
    units = Unit.objects.bulk_create(
        Unit(project_id=round.project_id, type=REWRITTEN, key=f"rewritten-{pk}", context=pk, position=0) for pk in new
    )
    RewrittenText.objects.bulk_create(
        RewrittenText(unit=unit, counterfactual_id=pk) for unit, pk in zip(units, new, strict=True)
    )
    there |= {pk: unit.pk for unit, pk in zip(units, new, strict=True)}
    Random(f"{round.seed}/blind").shuffle(ids)
    return [(there[pk], pk) for pk in ids]


def authors(units: Sequence[int]) -> dict[int, int]:
    """By unit (id) the person (member id) who wrote it; texts that a file brought have none."""
    written = RewrittenText.objects.filter(unit__in=units, counterfactual__answer__isnull=False)
    return dict(written.values_list("unit", "counterfactual__answer__author"))


def dealt(units: Sequence[int], people: Sequence[int], overlap: int) -> Mapping[int, Sequence[int]]:
    """Each unit (id) to so many people (member ids), in turn, but never to whoever wrote it: there are enough others
    (`check_people`)."""
    author = authors(units)
    found: dict[int, list[int]] = {}
    turn = 0
    for unit in units:
        others = [person for person in people if person != author.get(unit)]
        found[unit] = [others[(turn + n) % len(others)] for n in range(overlap)]
        turn += overlap
    return found
