"""The agreement report of a round: its counted answers, coded by their kind, measured by ``measures.agreement``."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from sys import intern
from typing import Any

from measures.agreement import REPLICATES, RoundAnswers, coded

from . import kinds
from .actions.gold import counted, values_in_force
from .models import Purpose, Round, Unit

#: About so many answers are in memory with all that was said.
CHUNK = 1000
#: Purposes of rounds that could not have made the gold that they are held against; for others it would flatter.
HELD_AGAINST_GOLD = (Purpose.MEASURE_ONLY, Purpose.PRACTICE)
Said = tuple[Unit, str, kinds.Value]
Progress = Callable[[int, int | None, str], None]


def said_in(round: Round) -> Iterator[list[Said]]:
    """(unit, pseudonym, value) of every counted answer, some whole units at a time, in the order of the walk; of units
    only id and key are there.

    Columns and not objects are read: a round may have 100,000 answers.
    """
    kind = kinds.get(round.kind)
    columns = ("pk", "assignment__position", "assignment__unit", "assignment__unit__key", "author__pseudonym")
    first = counted(round).filter(assignment__repeat=0).values_list(*columns)
    for rows in _whole_units(first.iterator(chunk_size=2000)):
        values = kind.values(row[0] for row in rows)
        units = {pk: Unit(pk=pk, key=key) for _, _, pk, key, _ in rows}
        yield [(units[unit], intern(pseudonym), values[pk]) for pk, _, unit, _, pseudonym in rows]


def _whole_units(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows in parts of about `CHUNK`; those of one place of the walk, and so of one unit, come together."""
    part: list[tuple[Any, ...]] = []
    for _, of_one in groupby(rows, key=itemgetter(1)):
        part += of_one
        if len(part) >= CHUNK:
            yield part
            part = []
    if part:
        yield part


def report(round: Round, *, bootstrap: int = REPLICATES, progress: Progress | None = None) -> dict[str, Any]:
    """The whole report, as ``agreement --format json`` prints it (DESIGN section 5). Items are unit keys."""
    kind = kinds.get(round.kind)
    with_texts = any(comparison.of_spans for comparison in kind.comparisons)
    found = RoundAnswers(kind.scales, kind.comparisons)
    for said in said_in(round):
        units = {unit.pk: unit for unit, _, _ in said}
        texts: dict[Hashable, str] = {}
        if with_texts:
            texts = {units[pk].key: text for pk, text in kind.texts(units).items()}
        reviews = {units[pk].key: review for pk, review in kind.reviews(units).items()}
        found.add([(unit.key, rater, kind.row(value)) for unit, rater, value in said], texts, reviews)
        found.hold_against(_gold(round, list(units.values())))
        if progress:
            progress(found.answers, None, "reading answers")

    def measuring(name: str) -> None:
        if progress:
            progress(found.answers, found.answers, f"measuring {name}")

    return heading(round) | found.report(
        units=round.units_count, seed=round.seed, overlap=round.overlap, bootstrap=bootstrap, progress=measuring
    )


def heading(round: Round) -> dict[str, Any]:
    """What a report says of its round."""
    return {
        "round": round.name,
        "project": round.project.slug,
        "kind": round.kind,
        "purpose": round.purpose,
        "status": round.status,
        "overlap": round.overlap,
        "units": round.units_count,
    }


def gold_of(round: Round) -> dict[str, dict[str, str]]:
    """What the raters of a round are held against: gold by scale and unit key. Empty where the round makes gold."""
    asked = counted(round).filter(assignment__repeat=0).order_by("assignment__unit").distinct()
    units = asked.values_list("assignment__unit", "assignment__unit__key")
    return _gold(round, [Unit(pk=pk, key=key) for pk, key in units])


def _gold(round: Round, units: list[Unit]) -> dict[str, dict[str, str]]:
    """Gold of some units by scale and unit key."""
    if round.purpose not in HELD_AGAINST_GOLD:
        return {}
    kind = kinds.get(round.kind)
    by_pk = {unit.pk: unit for unit in units}
    values = values_in_force(units, round.kind)
    whole = [(by_pk[pk].key, "gold", kind.row(v)) for pk, v in values.items() if set(kind.fields) <= set(v)]
    found = {name: {unit: value for unit, _, value in rows} for name, rows in coded(kind.scales, whole).items()}
    return found if whole else {}
