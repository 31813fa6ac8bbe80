"""The agreement report of a round: its counted answers, coded by their kind, measured by ``measures.agreement``."""

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any

from measures.agreement import Ratings, against_gold, half_width_curve, items_needed, measure_report

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


def report(round: Round, *, bootstrap: int = 2000, with_gold: bool = True) -> dict[str, Any]:
    """The whole report, as ``agreement --format json`` prints it (DESIGN section 5). Items are unit keys."""
    kind = kinds.get(round.kind)
    said = said_in(round)
    units = {unit.pk: unit for unit, _, _ in said}
    raters = sorted({rater for _, rater, _ in said})
    gold = _gold_codes(round, list(units.values())) if with_gold else {}
    measures = []
    triples: dict[str, list[tuple[str, str, str]]] = {scale.name: [] for scale in kind.scales}
    for code in kind.codes(said):
        triples[code.measure].append((units[code.unit].key, code.rater, code.value))
    for scale in kind.scales:
        ratings = Ratings.from_triples(triples[scale.name], scale.categories)
        found = measure_report(
            scale.name, ratings, scale.weights, scale.metric,  # type: ignore[arg-type]
            bootstrap=bootstrap, seed=round.seed % 2**32, overlap=round.overlap,
        ).as_json()  # fmt: skip
        found["plan"] = _plan(found)
        found["gold"] = [r.as_json() for r in against_gold(ratings, gold.get(scale.name, {}))] if gold else []
        measures.append(found)
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


def _plan(measure: dict[str, Any]) -> dict[str, Any] | None:
    """How many units would narrow the interval of AC1 (AC2): the curve and the n for some half widths."""
    coefficients = measure["coefficients"]
    pilot = coefficients.get("ac1") or coefficients.get("ac2")
    n = measure["units"]
    if not pilot or not pilot["se"] or n < 2:
        return None
    sizes = sorted({10, 20, 40, 80, 160, 320, 640, 1280, n})
    return {
        "coefficient": "ac1" if "ac1" in coefficients else "ac2",
        "half_width": (pilot["ci"][1] - pilot["ci"][0]) / 2 if pilot["ci"] else None,
        "curve": [{"units": size, "half_width": half} for size, half in half_width_curve(pilot["se"], n, sizes)],
        "needed": [{"half_width": h, "units": items_needed(pilot["se"], n, h)} for h in HALF_WIDTHS],
    }
