"""The agreement report of a round: its counted answers, coded by their kind, measured by ``measures.agreement``."""

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any

from measures.agreement import MeasureReport, Ratings, against_gold, half_width_curve, items_needed, measure_report

from . import kinds
from .actions.gold import counted, values_in_force
from .models import Answer, Purpose, Round, Unit

CHUNK = 1000
#: Half widths of the 95 % interval for which the page says how many units they would take.
HALF_WIDTHS = (0.03, 0.05, 0.08, 0.10, 0.15)
Said = tuple[Unit, str, kinds.Value]


def said_in(round: Round) -> list[Said]:
    """(unit, pseudonym, value) of every counted answer, in the order of the walk; of units only id and key are there.

    Columns and not objects are read: a round may have 100,000 answers.
    """
    kind = kinds.get(round.kind)
    columns = ("pk", "assignment__unit", "assignment__unit__key", "author__pseudonym")
    first = counted(round).filter(assignment__repeat=0).values_list(*columns)
    units: dict[int, Unit] = {}
    said: list[Said] = []
    for rows in _chunks(first.iterator(chunk_size=2000)):
        values = kind.values([Answer(pk=row[0]) for row in rows])
        for pk, unit, key, pseudonym in rows:
            if unit not in units:
                units[unit] = Unit(pk=unit, key=key)
            said.append((units[unit], pseudonym, values[pk]))
    return said


def _chunks(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(rows, CHUNK)):
        yield batch


def _reviews(kind: kinds.Kind, units: dict[int, Unit]) -> dict[Hashable, Hashable]:
    """The review of each unit by its key."""
    found = {pk: review for batch in _chunks(iter(units)) for pk, review in kind.reviews(batch).items()}
    return {unit.key: found[pk] for pk, unit in units.items()}


def report(round: Round, *, bootstrap: int = 2000, with_gold: bool = True) -> dict[str, Any]:
    """The whole report, as ``agreement --format json`` prints it (DESIGN section 5). Items are unit keys."""
    kind = kinds.get(round.kind)
    said = said_in(round)
    units = {unit.pk: unit for unit, _, _ in said}
    raters = sorted({rater for _, rater, _ in said})
    review_of = _reviews(kind, units)
    gold = _gold_codes(round, list(units.values())) if with_gold else {}
    measures = []
    triples: dict[str, list[tuple[str, str, str]]] = {scale.name: [] for scale in kind.scales}
    for code in kind.codes(said):
        triples[code.measure].append((units[code.unit].key, code.rater, code.value))
    for scale in kind.scales:
        ratings = Ratings.from_triples(triples[scale.name], scale.categories)
        measure = measure_report(
            scale.name, ratings, scale.weights, scale.metric,  # type: ignore[arg-type]
            bootstrap=bootstrap, seed=round.seed % 2**32, overlap=round.overlap, expected_items=round.units_count,
            review_of=review_of,
        )  # fmt: skip
        known = gold.get(scale.name, {})
        against = against_gold(ratings, known, clusters=measure.clusters) if gold else ()
        measures.append(measure.as_json() | {"plan": _plan(measure), "gold": [each.as_json() for each in against]})
    return {
        "round": round.name,
        "project": round.project.slug,
        "kind": round.kind,
        "purpose": round.purpose,
        "status": round.status,
        "overlap": round.overlap,
        "units": round.units_count,
        "units_answered": len(units),
        "raters": raters,
        "answers": len(said),
        "measures": measures,
        "spans": [
            {"name": s.name, "method": s.method, "value": s.value, "pairs": s.pairs, "units": s.units,
             "both_empty": s.both_empty, "undefined": s.undefined}
            for s in kind.span_agreement(said)
        ],
    }  # fmt: skip


def _gold_codes(round: Round, units: list[Unit]) -> dict[str, dict[Hashable, str | float]]:
    """Gold by measure and unit key, for a round that could not have made it; for others it would flatter."""
    if round.purpose not in (Purpose.MEASURE_ONLY, Purpose.PRACTICE):
        return {}
    kind = kinds.get(round.kind)
    gold: dict[str, dict[Hashable, str | float]] = {}
    by_pk = {unit.pk: unit for unit in units}
    values = values_in_force(units, round.kind)
    whole = [(by_pk[pk], "gold", value) for pk, value in values.items() if set(kind.fields) <= set(value)]
    for code in kind.codes(whole):
        gold.setdefault(code.measure, {})[by_pk[code.unit].key] = code.value
    return gold


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
