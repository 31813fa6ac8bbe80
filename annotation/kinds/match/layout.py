"""The units of matching: one item for each target that has an honest one, laid out with the round."""

from collections.abc import Sequence

from measures.design import williams_square
from measures.sampling import shuffled
from projects.models import Assignment, Round, Unit

from ...models import MatchCandidate, MatchItem, Target
from ...models.matching import CANDIDATES
from ...values.matching import Four, Matchable

MATCH = "match item"


def there(round: Round) -> list[tuple[int, int]]:
    """The (unit, context) ids of a round that was laid out before; empty where none was."""
    return list(MatchItem.objects.filter(round=round).order_by("number").values_list("unit", "unit__context"))


def four_of(found: Matchable, target: int, seed: int) -> Four:
    """The item of an honest target (id) by a round's seed: the same however often it is asked for."""
    return found.four(target, f"{seed}/match")


def order_of(target: str, slot: Assignment, seed: int) -> list[int]:
    """The numbers of an item's candidates (its target's key) in the order in which a place of the queue has them: in no
    two of four places does one of them stand at the same height, and what is asked again stands otherwise. A place that
    is not among those of the unit, a retired one, is as the first."""
    drawn = f"{seed}/match/{target}"
    numbers = shuffled(range(1, CANDIDATES + 1), f"{drawn}/numbers")
    rows = williams_square(CANDIDATES)
    order = shuffled(range(len(rows)), f"{drawn}/rows")
    row = rows[order[(max(slot.number, 1) - 1 + slot.repeat) % len(rows)]]
    return [numbers[each] for each in row]


def store(round: Round, found: Matchable, targets: Sequence[int]) -> list[tuple[int, int]]:
    """An item for each honest one of these targets (unit ids), in their order; each is a context of its own."""
    of_unit = dict(Target.objects.filter(unit__in=targets).values_list("unit", "pk"))
    honest = set(found.honest)
    fours = [four_of(found, pk, round.seed) for unit in targets if (pk := of_unit.get(unit)) in honest and pk]
    units = Unit.objects.bulk_create(
        Unit(
            project_id=round.project_id, type=MATCH, key=f"match-{round.pk}-{number}",
            context=round.pk * 1_000_000 + number, position=0,
        )
        for number in range(1, len(fours) + 1)
    )  # fmt: skip
    items = MatchItem.objects.bulk_create(
        MatchItem(
            unit=unit, round=round, number=number, target=four.target, study_id=four.study, nearest_by=found.nearest_by
        )
        for number, (unit, four) in enumerate(zip(units, fours, strict=True), start=1)
    )
    MatchCandidate.objects.bulk_create(
        MatchCandidate(item=item, position=position, sentence=one.sentence, is_gold=one.is_gold, rank=one.rank)
        for item, four in zip(items, fours, strict=True)
        for position, one in enumerate(four.candidates, start=1)
    )
    return [(unit.pk, unit.context) for unit in units]


def remove(round: Round) -> None:
    """Remove the items of a round that never opened. Its units stay: their numbers were seen by seals."""
    MatchCandidate.objects.filter(item__round=round).delete()
    MatchItem.objects.filter(round=round).delete()
