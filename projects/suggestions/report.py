"""The report of a round with suggestions: outcomes, working time, anchoring and agreement with gold."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Sum

from measures.suggestions import SuggestedAnswer, report
from projects import kinds
from projects.answers.queries import opinions
from projects.gold.queries import values_of
from projects.models import Answer, Decision, Origin, Outcome, Round, SuggestionOutcome, Unit
from projects.purposes import BLIND_SHARE

from .queries import is_blind, set_of, suggestions_of

PART = 1000
NOTE = "People saw the suggestions of a model in part of the round. Their answers are not independent labels."
GOLD = "Gold: decisions from before the round opened that do not come from a model or from an answer with a suggestion."


def suggestion_report(round: Round) -> dict[str, Any]:
    """Return the figures of a round with suggestions, from its counted answers. Reads answers in parts."""
    chosen, answers, skipped = set_of(round), list(suggested_answers(round).values()), skips(round).values()
    return {
        "note": NOTE,
        "set": {"id": chosen.pk, "name": chosen.name, "model": chosen.model, "version": chosen.version},
        "blind_share": int(round.terms[BLIND_SHARE]),
        "gold": GOLD,
        "skipped": {"shown": sum(skipped), "blind": len(skipped) - sum(skipped)},
        **report(answers, list(kinds.get(round.kind).fields_of(round)), seed=round.seed),
    }


def suggested_answers(round: Round) -> dict[Any, SuggestedAnswer]:
    """Return the counted answers to units with a suggestion, by id. Reads answers in parts."""
    kind, answers = kinds.get(round.kind), dict[Any, SuggestedAnswer]()
    ids = list(opinions(round).order_by("received_at", "pk").values_list("pk", flat=True))
    for first in range(0, len(ids), PART):
        answers |= _part(round, kind, ids[first : first + PART])
    return answers


def skips(round: Round) -> dict[Any, bool]:
    """Return the current skips of a round: whether the suggestion was shown, by answer id."""
    rows = Answer.objects.filter(
        assignment__round=round, assignment__repeat=0, assignment__current_answer=F("pk"), outcome=Outcome.SKIPPED
    )
    found = rows.order_by("received_at", "pk").values_list("pk", "assignment__unit", "author")
    return {answer: not is_blind(round, unit, person) for answer, unit, person in found}


def _part(round: Round, kind: kinds.Kind, ids: Sequence[Any]) -> dict[Any, SuggestedAnswer]:
    outcomes: dict[Any, list[SuggestionOutcome]] = defaultdict(list)
    for outcome in SuggestionOutcome.objects.filter(answer__in=ids):
        outcomes[outcome.answer_id].append(outcome)
    rows = Answer.objects.filter(pk__in=outcomes).select_related("assignment__unit").order_by("pk")
    answers = list(rows)
    units = {answer.assignment.unit_id: answer.assignment.unit for answer in answers}
    reviews = kind.reviews(units)
    gold = _independent_gold(round, list(units.values()))
    given = kind.values([answer.pk for answer in answers if answer.assignment.unit_id in gold])
    suggested = {pk: one.suggested for pk, one in suggestions_of(round, gold).items()}
    seconds = _seconds([answer.assignment_id for answer in answers])
    made: dict[Any, SuggestedAnswer] = {}
    for answer in answers:
        own, unit = outcomes[answer.pk], answer.assignment.unit
        right = model_right = None
        if unit.pk in gold and unit.pk in suggested:
            expected = gold[unit.pk]
            compared = [o.field for o in own if kind.part_of(o.field, expected)]
            right = _correct(kind, round, compared, given[answer.pk], expected)
            model_right = _correct(kind, round, compared, suggested[unit.pk], expected)
        made[answer.pk] = SuggestedAnswer(
            review=reviews.get(unit.pk, unit.key),
            shown=own[0].was_shown,
            rejected=own[0].rejected,
            same={outcome.field: outcome.same for outcome in own},
            seconds=seconds.get(answer.assignment_id),
            right=right,
            model_right=model_right,
        )
    return made


def _correct(
    kind: kinds.Kind, round: Round, fields: Sequence[str], value: kinds.Value, expected: kinds.Value
) -> dict[str, bool]:
    """Return whether a value is correct by the round's policy, by field. Fields that are not compared are missing."""
    judged = {field: kind.is_correct(field, value, expected, round) for field in fields}
    return {field: right for field, right in judged.items() if right is not None}


def _independent_gold(round: Round, units: Sequence[Unit]) -> dict[int, kinds.Value]:
    """Return gold that was formed without suggestions, by unit id. Units without it are missing."""
    decisions = newest_before(round, units)
    values = values_of(units, round.kind, decisions)
    return {unit: value for unit, value in values.items() if value}


def newest_before(round: Round, units: Sequence[Unit]) -> list[Decision]:
    """Return the decisions that were current when the round opened and are independent of models."""
    with_suggestion = SuggestionOutcome.objects.filter(answer=OuterRef("answer"), was_shown=True)
    rows: QuerySet[Any] = (
        Decision.objects.filter(unit__in=[unit.pk for unit in units], kind=round.kind, decided_at__lt=round.opened_at)
        .in_question()
        .annotate(assisted=Exists(with_suggestion))
        .order_by()
    )
    newest = {(d.unit_id, d.field): d for d in sorted(rows, key=lambda d: d.pk)}
    return [d for d in newest.values() if d.has_value and d.origin != Origin.MACHINE and not d.assisted]


def _seconds(assignments: Sequence[int]) -> Mapping[int, float]:
    """Return the active seconds of all revisions of each assignment. Those without a measured time are missing."""
    rows = Answer.objects.filter(assignment__in=assignments).order_by().values_list("assignment")
    return {pk: total / 1000 for pk, total in rows.annotate(total=Sum("active_ms")) if total}
