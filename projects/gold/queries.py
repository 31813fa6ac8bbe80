"""Read the current values of units, and the decisions on a member's own answers.

Functions that take several units or answers run a fixed number of queries.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import BigIntegerField, ExpressionWrapper, F, OuterRef, QuerySet, Subquery

from .. import kinds
from ..answers.queries import opinions
from ..models import Answer, Decision, Member, Origin, Round, Unit

#: Origins of values that need no confirmation by a curator.
SETTLED = (Origin.CURATED, Origin.IMPORTED)


def newest_decisions(units: Iterable[int], *kinds: str) -> dict[tuple[int, str, str], Decision]:
    """Return the current decisions of units, by unit id, kind and field. Run one query.

    Read all decisions of the units and keep the newest ones, because a field has only a few decisions. PostgreSQL then
    uses the index on unit and kind even if its table statistics are outdated. It would not do so for a sorted query
    (docs/decisions/0008-query-speed.md).
    """
    rows = Decision.objects.filter(unit__in=units, kind__in=kinds).in_question().order_by()
    newest = {(d.unit_id, d.kind, d.field): d for d in sorted(rows, key=lambda d: d.pk)}
    return {key: d for key, d in newest.items() if d.has_value}


def current_decisions(units: Iterable[int], kind: str) -> dict[tuple[int, str], Decision]:
    """Return the current decisions of units in one kind, by unit id and field. Run one query."""
    return of_kind(newest_decisions(units, kind), kind)


def of_kind(decisions: Mapping[tuple[int, str, str], Decision], kind: str) -> dict[tuple[int, str], Decision]:
    """Return the decisions of one kind from `newest_decisions`, by unit id and field."""
    return {(unit, field): d for (unit, key, field), d in decisions.items() if key == kind}


def units_with(units: QuerySet[Unit], decisions: QuerySet[Decision], *, have: bool = True) -> QuerySet[Unit]:
    """Return the units that have one of the decisions, or none of them if ``have`` is false.

    A subquery looks up each unit. The plan of a join would depend on PostgreSQL's table statistics.
    """
    matching_decision = decisions.filter(unit=OuterRef("pk")).order_by().values("pk")[:1]
    return units.alias(decision_found=Subquery(matching_decision)).filter(decision_found__isnull=not have)


def units_decided(units: QuerySet[Unit], kind: str, fields: Sequence[str] | None = None) -> QuerySet[Unit]:
    """Return the units whose fields are all decided, by any origin, and do not wait for a curator.

    ``fields`` are the fields that a round asks for. The default is all fields of the kind.
    """
    decisions = Decision.objects.filter(kind=kind)
    requested_fields = kinds.get(kind).fields if fields is None else fields
    if not requested_fields:
        # The fields of these kinds differ by round. A round decides every field that it asks for, or leaves it to a
        # curator.
        return units_with(units_with(units, decisions.current()), decisions.contested(), have=False)
    decided = decisions.decided()
    for n, field in enumerate(requested_fields):
        decision_of_field = decided.filter(unit=OuterRef("pk"), field=field).values("pk")[:1]
        units = units.alias(**{f"decided_{n}": Subquery(decision_of_field)}).filter(**{f"decided_{n}__isnull": False})
    return units


def current_values(units: Sequence[Unit], kind: str) -> dict[int, dict[str, Any]]:
    """Return the decided fields of each unit's current value, by unit id. Use a fixed number of queries."""
    return values_of(units, kind, current_decisions([u.pk for u in units], kind).values())


def values_of(units: Sequence[Unit], kind: str, decisions: Collection[Decision]) -> dict[int, dict[str, Any]]:
    """Return the value that the given decisions form for each unit, by unit id. Use a fixed number of queries."""
    parts = parts_of(units, kind, decisions)
    unit_parts: dict[int, list[kinds.Value]] = {u.pk: [] for u in units}
    for d in decisions:
        unit_parts[d.unit_id].append(parts[d.pk])
    merged = kinds.get(kind).merged
    return {unit: merged(parts_of_unit) for unit, parts_of_unit in unit_parts.items()}


def parts_of(units: Sequence[Unit], kind: str, decisions: Collection[Decision]) -> dict[int, dict[str, Any]]:
    """Return the part of a value that each decision sets, by decision id. Use a fixed number of queries."""
    how = kinds.get(kind)
    answers = how.values({d.answer_id for d in decisions if d.answer_id})
    imports = {d.imported_id for d in decisions if d.imported_id}
    imported = how.imported_values(units, imports) if imports else {}
    return {
        d.pk: how.part_of(d.field, answers[d.answer_id] if d.answer_id else imported[d.unit_id, d.imported_id or 0])
        for d in decisions
    }


def earlier_values(units: Sequence[Unit], kind: str) -> dict[int, kinds.Value]:
    """Return the values of superseded texts, by the id of the unit that replaced them."""
    values: dict[int, kinds.Value] = {}
    current_ids = {u.pk: u.pk for u in units}  # earlier unit id -> current unit id
    while current_ids:
        earlier = list(Unit.objects.filter(superseded_by__in=current_ids))
        current_ids = {u.pk: current_ids[u.superseded_by_id or 0] for u in earlier}
        for old, value in current_values(earlier, kind).items():
            if value:
                values[current_ids.pop(old)] = value
    return values


def withdrawn_values(units: Iterable[int], kind: str) -> set[tuple[int, str]]:
    """Return (unit id, field) of values that a curator withdrew and that have no newer value. Run one query."""
    rows = Decision.objects.filter(unit__in=units, kind=kind).in_question().order_by()
    newest = {(d.unit_id, d.field): d.origin for d in sorted(rows, key=lambda d: d.pk)}
    return {key for key, origin in newest.items() if origin == Origin.REOPENED}


def sentences(decisions: Sequence[Decision]) -> dict[int, str]:
    """Return the value of each decision in words, by decision id. Skip decisions without a value.

    ``unit`` must be loaded with the decisions. Run a few queries per kind.
    """
    valued = [d for d in decisions if d.has_value]
    known = {kind.key for kind in kinds.all_kinds()}
    texts: dict[int, str] = {}
    for key in sorted({d.kind for d in valued} & known):
        kind, kind_decisions = kinds.get(key), [d for d in valued if d.kind == key]
        answered = kind.values(d.answer_id for d in kind_decisions if d.answer_id)
        imports = {d.imported_id for d in kind_decisions if d.imported_id}
        imported_values = (
            kind.imported_values([d.unit for d in kind_decisions if d.imported_id], imports) if imports else {}
        )
        for d in kind_decisions:
            value = answered.get(d.answer_id) if d.answer_id else imported_values.get((d.unit_id, d.imported_id or 0))
            if value:
                texts[d.pk] = kind.sentence(d.field, value)
    return texts


def contested_fields(units: Sequence[Unit], kind: str) -> set[tuple[int, str]]:
    """Return (unit id, field) of fields that wait for a curator. Run one query."""
    rows = Decision.objects.filter(unit__in=[u.pk for u in units], kind=kind).order_by()
    newest = {(d.unit_id, d.field): d.has_value for d in sorted(rows, key=lambda d: d.pk)}
    return {key for key, has_value in newest.items() if not has_value}


Json = dict[str, Any]


def are_outcomes_shown(round: Round) -> bool:
    """Return whether annotators of a round see the decisions on their answers. They never do before it is closed."""
    return round.has_queue and round.project.show_adjudication


def answers(round: Round, member: Member) -> QuerySet[Answer]:
    """Return the member's answers to units that a curator decided in this round, in assignment order."""
    if not are_outcomes_shown(round):
        return Answer.objects.none()
    # A subquery looks up each answer by unit, kind and field (docs/decisions/0008). The sum prevents SQLite from using
    # the index on the round, which would read all decisions of the round for each answer.
    of_unit = Decision.objects.filter(unit=OuterRef("assignment__unit"), kind=round.kind, origin=Origin.CURATED)
    of_round = ExpressionWrapper(F("round") + 0, output_field=BigIntegerField())
    decided = of_unit.alias(of_round=of_round).filter(of_round=round.pk).current()
    own_answers = opinions(round).filter(author=member).alias(decided=Subquery(decided.values("pk")[:1]))
    return own_answers.filter(decided__isnull=False).select_related("assignment__unit")


def rows(round: Round, answers: Sequence[Answer]) -> list[Json]:
    """Return own and decided value of each field, with the reason. Use a fixed number of queries.

    The rows contain no names and no answers of other people.
    """
    kind = kinds.get(round.kind)
    units = [a.assignment.unit for a in answers]
    texts, values = kind.texts([u.pk for u in units]), kind.values(a.pk for a in answers)
    decisions = current_decisions([u.pk for u in units], kind.key)
    curated = {at: d for at, d in decisions.items() if d.origin == Origin.CURATED and d.round_id == round.pk}
    by_id = {u.pk: u for u in units}
    for decision in curated.values():
        decision.unit = by_id[decision.unit_id]
    decided_texts = sentences(list(curated.values()))
    words = {a.pk: kind.in_words(values[a.pk]) for a in answers}
    decided_answers = kind.values(d.answer_id for d in curated.values() if d.answer_id)
    out = []
    for a in answers:
        own_decisions = [
            (name, d) for name in kind.fields_of(round) if (d := curated.get((a.assignment.unit_id, name)))
        ]
        out.append(
            {
                "answer": a.pk,
                "key": a.assignment.unit.key,
                "text": texts.get(a.assignment.unit_id, ""),
                "reason": next((d.reason for _, d in own_decisions), ""),
                "fields": [
                    {
                        "field": name,
                        "yours": words[a.pk].get(name, ""),
                        "decided": decided_texts.get(d.pk, ""),
                        "same": kind.distance(name, values[a.pk], decided_answers[d.answer_id]) == 0,
                    }
                    for name, d in own_decisions
                ],
            }
        )
    return out
