"""Read the suggestions of a round, and draw the part of each person's units that is blind."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from api.problems import Refused
from measures.sampling import draws_below
from projects import kinds
from projects.models import (
    Assignment,
    Project,
    Round,
    Suggestion,
    SuggestionFate,
    SuggestionOutcome,
    SuggestionSet,
    Unit,
)
from projects.purposes import BLIND_SHARE, SUGGESTIONS


def valid(of: int) -> QuerySet[Suggestion]:
    """Return the suggestions of a set that have a value."""
    return Suggestion.objects.filter(of=of, value__isnull=False)


def units_with_suggestion(units: QuerySet[Unit], of: int) -> QuerySet[Unit]:
    """Return the units for which a set has a value, made for their current text."""
    return units.filter(Exists(valid(of).filter(unit=OuterRef("pk"), shown=OuterRef("revision"))))


def is_blind(round: Round, unit: int, person: int | None) -> bool:
    """Return whether a person answers a unit without seeing the suggestion.

    The draw is by person and unit, so that each person works in both ways, and a unit that several people answer can be
    in both parts. It depends on the seed, which participants of such a round do not learn.
    """
    if person is None:
        return False
    return draws_below(round.seed, f"suggestion {unit} {person}", int(round.terms[BLIND_SHARE]) / 100)


def checked_terms(project: Project, kind: kinds.Kind, terms: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """Return the terms of a round, without those of suggestions if it shows none.

    Raise `Refused` if the set does not exist, or has no value for a field that the round asks for.
    """
    if SUGGESTIONS not in terms:
        return dict(terms)
    chosen = terms[SUGGESTIONS]
    if chosen is None:
        return {name: value for name, value in terms.items() if name not in (SUGGESTIONS, BLIND_SHARE)}
    name = f"terms.{SUGGESTIONS}"
    if not SuggestionSet.objects.filter(pk=chosen, project=project, kind=kind.key).exists():
        raise Refused.field(name, "This project has no suggestions with this id for this task.")
    example = valid(chosen).first()
    if example is None:
        raise Refused.field(name, "These suggestions have no value yet. Wait until the model has answered.")
    asked = kind.fields_of(Round(kind=kind.key, options=dict(options)))
    if missing := [field for field in asked if not kind.part_of(field, example.suggested)]:
        words = missing[0].replace("_", " ")
        raise Refused.field(
            name, f"The round asks for {words}, but these suggestions have none. Change the task's options."
        )
    return dict(terms)


def suggestions_of(round: Round, units: Iterable[int]) -> dict[int, Suggestion]:
    """Return the suggestions of a round by unit id. One query."""
    if not round.suggestions:
        return {}
    current = valid(round.suggestions).filter(unit__in=list(units), shown=F("unit__revision"))
    return {one.unit_id: one for one in current}


def shown_values(round: Round, assignments: Sequence[Assignment]) -> dict[int, kinds.Value]:
    """Return the suggested values that people see, by assignment id. One query."""
    kind = kinds.get(round.kind)
    seen = [one for one in assignments if not is_blind(round, one.unit_id, one.person_id)]
    by_unit = suggestions_of(round, {one.unit_id for one in seen})
    fields = kind.fields_of(round)
    return {
        one.pk: kind.merged([kind.part_of(field, by_unit[one.unit_id].suggested) for field in fields])
        for one in seen
        if one.unit_id in by_unit
    }


def outcomes_of(assignment: Assignment, value: kinds.Value | None, *, rejects: bool) -> list[SuggestionOutcome]:
    """Return the outcomes to store with an answer. Empty without a suggestion, and for a skip."""
    round = assignment.round
    if value is None or not round.suggestions:
        return []
    suggestion = suggestions_of(round, [assignment.unit_id]).get(assignment.unit_id)
    if suggestion is None:
        return []
    kind = kinds.get(round.kind)
    was_shown = not is_blind(round, assignment.unit_id, assignment.person_id)
    if assignment.revision and not rejects:
        # A later revision of an answer does not undo that the suggestion was rejected.
        earlier = SuggestionOutcome.objects.filter(answer__assignment=assignment.pk, rejected=True)
        rejects = earlier.exists()
    return [
        SuggestionOutcome(
            suggestion=suggestion,
            field=field,
            was_shown=was_shown,
            same=kind.is_equal(field, suggestion.suggested, value),
            rejected=rejects and was_shown,
        )
        for field in kind.fields_of(round)
    ]


def seen_with(answers: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    """Return the fate of the suggestion and its set, by answer. Answers without a visible suggestion are missing. One
    query.
    """
    rows = SuggestionOutcome.objects.filter(answer__in=list(answers), was_shown=True).order_by("answer", "pk")
    columns = ("answer", "same", "rejected", "suggestion__of__name", "suggestion__of__model")
    found: dict[Any, tuple[str, str]] = {}
    for answer, group in groupby(rows.values_list(*columns), lambda row: row[0]):
        fields = list(group)
        rejected = any(row[2] for row in fields)
        fate = (
            SuggestionFate.ACCEPTED
            if all(row[1] for row in fields)
            else SuggestionFate.REJECTED
            if rejected
            else SuggestionFate.EDITED
        )
        found[answer] = (fate.value, f"{fields[0][3]} ({fields[0][4]})")
    return found


def set_of(round: Round) -> SuggestionSet:
    """Return the set of a round that shows suggestions."""
    return SuggestionSet.objects.get(pk=round.terms[SUGGESTIONS])


def in_words(round: Round) -> str:
    """Return which suggestions a round shows, and how often."""
    chosen = set_of(round)
    return f"{chosen.name} ({chosen.model}), {round.terms[BLIND_SHARE]}% of each person's units blind"
