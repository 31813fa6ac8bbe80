"""The agreement report of a round: its counted answers, coded by their kind, measured by ``measures.agreement``."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from sys import intern
from typing import Any

from django.db.models import Count

from measures.agreement import REPLICATES, Review, RoundAnswers, asked_again, coded, corrections

from .. import kinds
from ..models import Reference, Round, Unit
from ..values.in_force import parts_of, values_in_force
from .counted import counted, counted_parts
from .slots import Shape

#: About so many answers are in memory with all that was said.
CHUNK = 1000
Said = tuple[Unit, str, kinds.Value]
Progress = Callable[[int, int | None, str], None]


def said_in(round: Round) -> Iterator[list[Said]]:
    """(unit, pseudonym, value) of every counted answer, some whole units at a time, in the order of the walk; of units
    only id and key are there.

    Columns and not objects are read: a round may have 100,000 answers.
    """
    for part in _said_with_answers(round):
        yield [(unit, pseudonym, value) for unit, pseudonym, value, _ in part]


def _said_with_answers(round: Round) -> Iterator[list[tuple[Unit, str, kinds.Value, Any]]]:
    """As `said_in`, each with the uuid of its answer."""
    kind = kinds.get(round.kind)
    columns = ("pk", "assignment__position", "assignment__unit", "assignment__unit__key", "author__pseudonym")
    parts = counted_parts(round, assignment__repeat=0)
    for rows in _whole_units(chain.from_iterable(part.values_list(*columns) for part in parts)):
        values = kind.values(row[0] for row in rows)
        units = {pk: Unit(pk=pk, key=key) for _, _, pk, key, _ in rows}
        yield [(units[unit], intern(pseudonym), values[pk], pk) for pk, _, unit, _, pseudonym in rows]


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


def rated(kind: kinds.Kind, unit: Unit, rater: str, value: kinds.Value) -> list[tuple[str, str, kinds.Row]]:
    """An answer as agreement takes it: (item, rater, cells). An item is a unit, or a part of one."""
    if not kind.part:
        return [(unit.key, rater, row) for row in kind.rows(value)]
    return [(f"{unit.key} {row[kind.part]}", rater, row) for row in kind.rows(value)]


def report(round: Round, *, bootstrap: int = REPLICATES, progress: Progress | None = None) -> dict[str, Any]:
    """The whole report, as ``agreement --format json`` prints it (DESIGN section 5). Items are unit keys."""
    kind = kinds.get(round.kind)
    if not round.meaning.independent:
        return heading(round) | _not_independent(round)
    scales, comparisons = kind.scales_of(round), kind.comparisons_of(round)
    with_texts = any(comparison.of_spans for comparison in comparisons)
    found = RoundAnswers(scales, comparisons)
    for said in said_in(round):
        units = {unit.pk: unit for unit, _, _ in said}
        rows = [(unit.pk, row) for unit, rater, value in said for row in rated(kind, unit, rater, value)]
        # What is known of a unit holds of each of its parts.
        item_of = [(item, pk) for pk, (item, _, _) in rows]
        of_unit, text_of = kind.reviews(units), kind.texts(units) if with_texts else {}
        reviews = {item: of_unit.get(pk, units[pk].key) for item, pk in item_of}
        texts: dict[Hashable, str] = {item: text_of[pk] for item, pk in item_of if pk in text_of}
        found.add([row for _, row in rows], texts, reviews)
        found.hold_against(_gold(round, list(units.values())))
        if progress:
            progress(found.answers, None, "reading answers")

    def measuring(name: str) -> None:
        if progress:
            progress(found.answers, found.answers, f"measuring {name}")

    figures = found.report(
        units=round.units_count, seed=drawn_by(round), overlap=ratings_an_item(round), bootstrap=bootstrap,
        progress=measuring,
    )  # fmt: skip
    again = _asked_again(round)
    return heading(round) | figures | ({"repeats": again} if again else {})


def _not_independent(round: Round) -> dict[str, Any]:
    """Of a round whose people knew, or were told, what is in force there is no agreement between raters; of one in
    which values were reviewed, what became of them."""
    answers = counted(round).filter(assignment__repeat=0).order_by()
    figures = answers.aggregate(answers=Count("pk"), units_answered=Count("assignment__unit", distinct=True))
    raters = sorted(answers.values_list("author__pseudonym", flat=True).distinct())
    said: dict[str, Any] = figures | {"raters": raters, "measures": [], "spans": []}
    if not round.meaning.shows_value:
        return said
    return said | {"review": corrections(kinds.get(round.kind).scales_of(round), [r for _, r in reviews(round)])}


def reviews(round: Round) -> Iterator[tuple[Any, Review]]:
    """What was shown and what was said of it, with the answer's id; those of which nothing was shown are left out."""
    kind = kinds.get(round.kind)
    fields = set(kind.fields_of(round))
    order = {name: n for n, name in enumerate(kind.fields_of(round))}
    for said in _said_with_answers(round):
        held: dict[Any, list[Reference]] = {}
        for reference in Reference.objects.filter(answer__in=[pk for *_, pk in said]).select_related("decision"):
            held.setdefault(reference.answer_id, []).append(reference)
        shown = parts_of(
            list({unit.pk: unit for unit, *_ in said}.values()), kind.key,
            list({r.decision_id: r.decision for found in held.values() for r in found}.values()),
        )  # fmt: skip
        for unit, rater, value, pk in said:
            if references := sorted(held.get(pk, []), key=lambda r: order[r.decision.field]):
                before = kind.merged([shown[reference.decision_id] for reference in references])
                same = {r.decision.field: r.same for r in references}
                whole = fields <= set(same)
                yield pk, Review(f"{unit.key} {rater}", same, _side_by_side(kind, before, value) if whole else [])


def _side_by_side(kind: kinds.Kind, before: kinds.Value, value: kinds.Value) -> list[tuple[str, kinds.Row, kinds.Row]]:
    """The rows of what was shown beside those of what was said, by the part of the unit that they are about."""
    shown = {row.get(kind.part, ""): row for row in kind.rows(before)}
    return [(part, shown[part], row) for row in kind.rows(value) if (part := row.get(kind.part, "")) in shown]


def ratings_an_item(round: Round) -> float:
    """How many people a unit was to be asked of: the overlap, or where a block has more, the mean."""
    shape = Shape.of(round.overlap, round.sampling)
    return shape.count(round.units_count) / round.units_count if shape.block_share else round.overlap


def _asked_again(round: Round) -> dict[str, Any] | None:
    again = counted(round).filter(assignment__repeat__gt=0).values_list("pk", "assignment__unit", "author")
    asked = {(unit, author): pk for pk, unit, author in again}
    if not asked:
        return None
    firsts = counted(round).filter(assignment__repeat=0, assignment__unit__in={unit for unit, _ in asked})
    first = {(unit, author): pk for pk, unit, author in firsts.values_list("pk", "assignment__unit", "author")}
    kind = kinds.get(round.kind)
    pairs = {place: (first[place], pk) for place, pk in asked.items() if place in first}
    values = kind.values(pk for pair in pairs.values() for pk in pair)
    said = [
        row
        for (unit, author), pair in pairs.items()
        for time, pk in zip(("first", "again"), pair, strict=True)
        for row in rated(kind, Unit(pk=unit, key=f"{unit}/{author}"), time, values[pk])
    ]
    return asked_again(kind.scales_of(round), said, seed=drawn_by(round))


def drawn_by(round: Round) -> int:
    """The seed of resampling: the round's, but where that says in which order people saw what they judge blindly."""
    return round.pk if kinds.get(round.kind).blind else round.seed


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
    if not round.meaning.held_against_gold:
        return {}
    kind = kinds.get(round.kind)
    by_pk = {unit.pk: unit for unit in units}
    values = values_in_force(units, round.kind) | kind.known(by_pk)
    fields = set(kind.fields_of(round))
    whole = [row for pk, v in values.items() if fields <= set(v) for row in rated(kind, by_pk[pk], "gold", v)]
    scales = kind.scales_of(round)
    found = {name: {unit: value for unit, _, value in rows} for name, rows in coded(scales, whole).items()}
    return found if whole else {}
