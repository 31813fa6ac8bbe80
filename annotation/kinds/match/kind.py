"""The task kind *match*: which of four sentences is most relevant to a target's conclusion? (TASKS: match)"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from rest_framework import serializers

from api.parameters import Parameter, Takes
from api.problems import Refused
from projects.kinds import Batch, Row, Scale, SkipReason, Value
from projects.models import Answer, Assignment, Project, Round, Unit

from ...models import Match, MatchCandidate, MatchItem, Target
from ...models.matching import CANDIDATES
from ...values import matching
from ..target_sentences import TargetSentenceKind
from . import layout
from .serializers import MatchCardSerializer, MatchValueSerializer

FIELD = "most_relevant"
NEAREST_BY = "nearest_by"


class MatchKind(TargetSentenceKind):
    """One of four sentences of a study's abstract: the gold evidence of a target sentence stands among the three
    nearest that are evidence for it nowhere. Who picks is told neither, nor where they are from."""

    key = "match"
    title = "Match targets to evidence (blind)"
    order = 110
    unit_types: Sequence[str] = (layout.MATCH,)
    fields: Sequence[str] = (FIELD,)
    tables = (Match,)
    blind = True
    assumed_seconds = 30.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("known", "I know this review, or its evidence"),
        SkipReason("unclear", "The target is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = MatchCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = MatchValueSerializer
    scales: Sequence[Scale] = (Scale(FIELD, tuple(str(n) for n in range(1, CANDIDATES + 1)), FIELD),)
    columns: Sequence[str] = (FIELD,)

    # What a lead sets

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """Among the rankers that have ranked in the project, the one that ranked most to begin with."""
        names = tuple(matching.rankers(project))
        return (
            Parameter(
                NEAREST_BY, Takes.CHOICE, "The other three are the nearest by", choices=names, default=names[0],
                help="Targets that it has not ranked are left out.",
            ),
        )  # fmt: skip

    # Which units

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """None: what is right was known before anybody was asked."""
        return Unit.objects.none()

    def narrowed(self, units: QuerySet[Unit], options: Mapping[str, Any]) -> QuerySet[Unit]:
        """Of these targets those with an honest item. Raises `Refused` where none has one, and says why."""
        first = units.select_related("project").first()
        if first is None:
            return units
        found = matching.matchable(first.project, str(options[NEAREST_BY]))
        if not found.honest:
            why = matching.in_words(found.refused.values())
            raise Refused.field("filters", f"No target sentence has four candidates ({why}).")
        return units.filter(target__in=found.honest)

    def lay_out(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if there := layout.there(round):
            return there
        if not round.meaning.held_against_gold:
            raise Refused.field("purpose", "Matches measure reliability: ask them in a round that is measure only.")
        found = matching.matchable(round.project, str(round.options[NEAREST_BY]))
        return layout.store(round, found, [unit for unit, _ in chosen])

    def discarded(self, round: Round) -> None:
        layout.remove(round)

    def hanging_on(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """Items whose target was corrected."""
        return Unit.objects.filter(match_item__target__unit__in=units)

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """The targets."""
        return dict(MatchItem.objects.filter(unit__in=list(units)).values_list("unit", "target__text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(MatchItem.objects.filter(unit__in=list(units)).values_list("unit", "target__review__pmid"))

    def known(self, units: Iterable[int]) -> dict[int, Value]:
        """The number of the gold sentence."""
        rows = MatchCandidate.objects.filter(item__unit__in=list(units), is_gold=True)
        return {unit: {FIELD: position} for unit, position in rows.values_list("item__unit", "position")}

    # What is shown, and what is said

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        """Two queries. Before a round is laid out, what its items will be."""
        units = [slot.unit_id for slot in slots]
        if round.pk is None:
            return Batch(_planned(units, round))
        candidates = Prefetch("candidates", MatchCandidate.objects.select_related("sentence").order_by("position"))
        found = MatchItem.objects.filter(unit__in=units).select_related("target").prefetch_related(candidates)
        return Batch({item.unit_id: _texts(item.target, item.candidates.all()) for item in found})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """The target and four sentences, alike in all but their words, in an order of the place's own."""
        target, texts = batch.rows[slot.unit_id]
        order = layout.order_of(target.key, slot, round.seed)
        return {"target": target.text, "candidates": [{"number": n, "text": texts[n - 1]} for n in order]}

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        Match.objects.bulk_create(
            Match(unit_id=answer.assignment.unit_id, answer=answer, most_relevant=value[FIELD])
            for answer, value in said
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = Match.objects.filter(answer__in=list(answers)).values_list("answer", FIELD)
        return {answer: {FIELD: place} for answer, place in rows}

    def row(self, value: Value) -> Row:
        return {FIELD: str(value[FIELD])}


def _planned(units: Sequence[int], round: Round) -> dict[int, tuple[Target, list[str]]]:
    """Targets (unit ids) with their candidates as the round that is being planned would lay them out."""
    found = matching.matchable(round.project, str(round.options[NEAREST_BY]))
    targets = Target.objects.filter(unit__in=units, pk__in=found.honest).values_list("unit", "pk")
    fours = {unit: layout.four_of(found, pk, round.seed) for unit, pk in targets}
    return {unit: _texts(four.target, four.candidates) for unit, four in fours.items()}


def _texts(target: Target, candidates: Iterable[Any]) -> tuple[Target, list[str]]:
    """A target, and its candidates by their numbers."""
    return target, [one.sentence.text for one in candidates]
