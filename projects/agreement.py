"""The agreement report of a round: its counted answers, coded by their kind, measured by ``measures.agreement``."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from operator import itemgetter
from sys import intern
from typing import Any

from measures.agreement import MeasureReport, Ratings, against_gold, half_width_curve, items_needed, measure_report

from . import kinds
from .actions.gold import counted, values_in_force
from .kinds import SpanAgreement
from .models import Purpose, Round, Unit

#: About so many answers are in memory with all that was said.
CHUNK = 1000
#: Half widths of the 95 % interval for which the page says how many units they would take.
HALF_WIDTHS = (0.03, 0.05, 0.08, 0.10, 0.15)
#: Purposes of rounds that could not have made the gold that they are held against; for others it would flatter.
HELD_AGAINST_GOLD = (Purpose.MEASURE_ONLY, Purpose.PRACTICE)
Said = tuple[Unit, str, kinds.Value]
Triple = tuple[str, str, str]
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


def report(
    round: Round, *, bootstrap: int = 2000, with_gold: bool = True, progress: Progress | None = None
) -> dict[str, Any]:
    """The whole report, as ``agreement --format json`` prints it (DESIGN section 5). Items are unit keys."""
    kind = kinds.get(round.kind)
    triples: dict[str, list[Triple]] = {scale.name: [] for scale in kind.scales}
    gold: dict[str, dict[Hashable, str | float]] = {}
    spans: list[list[SpanAgreement]] = []
    raters: set[str] = set()
    review_of: dict[Hashable, Hashable] = {}
    answers = units_answered = 0
    for said in said_in(round):
        units = {unit.pk: unit for unit, _, _ in said}
        for code in kind.codes(said):
            triples[code.measure].append((units[code.unit].key, code.rater, intern(code.value)))
        if with_gold and round.purpose in HELD_AGAINST_GOLD:
            _add_gold(gold, round, units)
        spans.append(kind.span_agreement(said))
        reviews = kind.reviews(units)
        review_of.update((unit.key, reviews[pk]) for pk, unit in units.items())
        raters.update(rater for _, rater, _ in said)
        answers, units_answered = answers + len(said), units_answered + len(units)
        if progress:
            progress(answers, None, "reading answers")
    measures = []
    for scale in kind.scales:
        if progress:
            progress(answers, answers, f"measuring {scale.name}")
        ratings = Ratings.from_triples(triples.pop(scale.name), scale.categories)
        measure = measure_report(
            scale.name, ratings, scale.weights, scale.metric,  # type: ignore[arg-type]
            bootstrap=bootstrap, seed=round.seed % 2**32, overlap=round.overlap, expected_items=round.units_count,
            review_of=review_of,
        )  # fmt: skip
        known = gold.get(scale.name, {})
        against = against_gold(ratings, known, clusters=measure.clusters) if gold else ()
        measures.append(measure.as_json() | {"plan": _plan(measure), "gold": [each.as_json() for each in against]})
    return {
        **heading(round),
        "units_answered": units_answered,
        "raters": sorted(raters),
        "answers": answers,
        "measures": measures,
        "spans": [asdict(pooled(parts)) for parts in zip(*(spans or [kind.span_agreement([])]), strict=True)],
    }


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


def pooled(parts: Sequence[SpanAgreement]) -> SpanAgreement:
    """The same of all units together, from what it is of some units each: a mean over units is the mean of the parts'
    means by how many units they are of."""
    units = sum(part.units for part in parts)
    compared = next((part for part in parts if part.both_empty), parts[0])
    return replace(
        parts[0],
        value=sum(part.value * part.units for part in parts if part.value is not None) / units if units else None,
        pairs=sum(part.pairs for part in parts),
        units=units,
        both_empty=sum(part.both_empty for part in parts),
        undefined=None if units else compared.undefined,
    )


def _add_gold(gold: dict[str, dict[Hashable, str | float]], round: Round, units: dict[int, Unit]) -> None:
    """Add the gold of some units, by measure and unit key."""
    kind = kinds.get(round.kind)
    values = values_in_force(list(units.values()), round.kind)
    whole = [(units[pk], "gold", value) for pk, value in values.items() if set(kind.fields) <= set(value)]
    for code in kind.codes(whole):
        gold.setdefault(code.measure, {})[units[code.unit].key] = code.value


def _plan(measure: MeasureReport) -> dict[str, Any] | None:
    """How many units would narrow the interval of AC1 (AC2): the curve and the n for some half widths.

    From the standard error over reviews where these are several units each: then more reviews, as large, are planned.
    """
    name = "ac1" if "ac1" in measure.coefficients else "ac2"
    pilot, n = measure.coefficients[name], measure.n_items
    over = pilot.reviews
    se = over.se if over else pilot.se
    if not se or n < 2:
        return None
    pace: dict[str, Any] = {"level": measure.level, "clusters": measure.reviews if over else None}
    sizes = sorted({10, 20, 40, 80, 160, 320, 640, 1280, n})
    return {
        "coefficient": name,
        "over": measure.cite,
        "half_width": dict(half_width_curve(se, n, [n], **pace))[n],
        "curve": [{"units": size, "half_width": half} for size, half in half_width_curve(se, n, sizes, **pace)],
        "needed": [{"half_width": h, "units": items_needed(se, n, h, **pace)} for h in HALF_WIDTHS],
    }
