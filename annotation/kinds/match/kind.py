"""Task kind *match*: which of four sentences is most relevant to a target's conclusion."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from rest_framework import serializers

from annotation.kinds.match import matching
from annotation.kinds.match.matching import DrawnItem, MatchableTargets
from annotation.kinds.units import TargetSentenceKind
from annotation.models import Match, MatchCandidate, MatchItem, Target
from annotation.models.reliability import CANDIDATES
from api.fields import at_most
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures.design import williams_square
from measures.sampling import shuffled
from projects.kinds import Batch, Row, Scale, SkipReason, Value, groups
from projects.models import Answer, Assignment, Project, Round, Unit

Plain = serializers.Serializer[Any]


class MatchCandidateSerializer(Plain):
    number = serializers.IntegerField(
        min_value=1,
        max_value=CANDIDATES,
        help_text="Number of the candidate in answers. It is the same for all people.",
    )
    text = serializers.CharField()


class MatchCardSerializer(Plain):
    """Card of an item. It reveals neither the source of the sentences nor which one is the evidence."""

    target = serializers.CharField(help_text="The target sentence.")
    candidates = MatchCandidateSerializer(
        many=True,
        **at_most(CANDIDATES),
        help_text="Four sentences of one study, in page order. The order differs between the people of an item.",
    )


class MatchValueSerializer(Plain):
    most_relevant = serializers.IntegerField(
        min_value=1,
        max_value=CANDIDATES,
        help_text="Number of the candidate. It does not depend on the position on the page.",
    )


MATCH = "match item"


def existing_items(round: Round) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of the items of a round; empty if none were created."""
    return list(MatchItem.objects.filter(round=round).order_by("number").values_list("unit", "unit__context"))


def draw_item(matchable: MatchableTargets, target: int, seed: int) -> DrawnItem:
    """Return the item of a target (id) for a round's seed. The result is deterministic."""
    return matchable.four(target, f"{seed}/match")


def order_of(target: str, assignment: Assignment, seed: int) -> list[int]:
    """Return the numbers of an item's candidates in the order shown in an assignment.

    The orders form a Latin square: in four assignments, no candidate is shown twice at the same position. A repeated
    item is shown in another order. An assignment outside the planned ones, such as a retired one, gets the first order.
    """
    seed_prefix = f"{seed}/match/{target}"
    numbers = shuffled(range(1, CANDIDATES + 1), f"{seed_prefix}/numbers")
    rows = williams_square(CANDIDATES)
    order = shuffled(range(len(rows)), f"{seed_prefix}/rows")
    row = rows[order[(max(assignment.number, 1) - 1 + assignment.repeat) % len(rows)]]
    return [numbers[each] for each in row]


def create_items(round: Round, matchable: MatchableTargets, targets: Sequence[int]) -> list[tuple[int, int]]:
    """Create the items of those targets (unit ids) that have a valid one. Each item is its own context."""
    of_unit = dict(Target.objects.filter(unit__in=targets).values_list("unit", "pk"))
    valid = set(matchable.honest)
    drawn_items = [
        draw_item(matchable, pk, round.seed) for unit in targets if (pk := of_unit.get(unit)) in valid and pk
    ]
    units = Unit.objects.bulk_create(
        Unit(
            project_id=round.project_id,
            type=MATCH,
            key=f"match-{round.pk}-{number}",
            context=round.pk * 1_000_000 + number,
            position=0,
        )
        for number in range(1, len(drawn_items) + 1)
    )
    items = MatchItem.objects.bulk_create(
        MatchItem(
            unit=unit,
            round=round,
            number=number,
            target=drawn.target,
            study_id=drawn.study,
            nearest_by=matchable.nearest_by,
        )
        for number, (unit, drawn) in enumerate(zip(units, drawn_items, strict=True), start=1)
    )
    MatchCandidate.objects.bulk_create(
        MatchCandidate(
            item=item, position=position, sentence=candidate.sentence, is_gold=candidate.is_gold, rank=candidate.rank
        )
        for item, drawn in zip(items, drawn_items, strict=True)
        for position, candidate in enumerate(drawn.candidates, start=1)
    )
    return [(unit.pk, unit.context) for unit in units]


def remove_items(round: Round) -> None:
    """Delete the items of a round that never opened. Keep the units, because audit checkpoints include their ids."""
    MatchCandidate.objects.filter(item__round=round).delete()
    MatchItem.objects.filter(round=round).delete()


FIELD = "most_relevant"
NEAREST_BY = "nearest_by"


class MatchKind(TargetSentenceKind):
    """Four sentences of a study's abstract: the gold evidence of a target sentence and three distractors.

    The distractors are the nearest sentences that are not evidence for the target. The rater sees neither which is gold
    nor the source.
    """

    key = "match"
    title = "Match targets to evidence (blind)"
    description = "Which of four sentences of a study fits a target?"
    group = groups.TEST
    order = 110
    unit_types: Sequence[str] = (MATCH,)
    fields: Sequence[str] = (FIELD,)
    blind = True
    assumed_seconds = 30.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("known", "I know this review, or its evidence"),
        SkipReason("unclear", "The target is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = MatchCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = MatchValueSerializer
    scales: Sequence[Scale] = (Scale(FIELD, tuple(str(n) for n in range(1, CANDIDATES + 1)), FIELD),)
    columns: Sequence[str] = (FIELD,)

    # Options

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """Offer the rankers with rankings in the project. The one with the most rankings is the default."""
        names = tuple(matching.rankers(project))
        return (
            Parameter(
                NEAREST_BY,
                Takes.CHOICE,
                "Select the other three by",
                choices=names,
                default=names[0],
                help="Targets that this ranker has not ranked are excluded.",
            ),
        )

    # Units

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Return no units: the correct answer is known beforehand."""
        return Unit.objects.none()

    def narrowed(self, units: QuerySet[Unit], options: Mapping[str, Any]) -> QuerySet[Unit]:
        """Keep the targets with a valid item. Raise `Refused` with the reasons if there are none."""
        first = units.select_related("project").first()
        if first is None:
            return units
        matchable = matching.find_matchable(first.project, str(options[NEAREST_BY]))
        if not matchable.honest:
            why = matching.reasons_in_words(Counter(matchable.refused.values()))
            raise Refused.field(
                "filters", f"No target sentence has four candidates ({why}). Change the filters or the ranker."
            )
        return units.filter(target__in=matchable.honest)

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if existing := existing_items(round):
            return existing
        if not round.meaning.held_against_gold:
            raise Refused.field("purpose", "Matches need a round with the purpose *reliability study*.")
        units = [unit for unit, _ in chosen]
        matchable = matching.find_matchable(round.project, str(round.options[NEAREST_BY]), units)
        return create_items(round, matchable, units)

    def discarded(self, round: Round) -> None:
        remove_items(round)

    def dependents_of(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """Return the items whose target was corrected."""
        return Unit.objects.filter(match_item__target__unit__in=units)

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the target texts."""
        return dict(MatchItem.objects.filter(unit__in=list(units)).values_list("unit", "target__text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(MatchItem.objects.filter(unit__in=list(units)).values_list("unit", "target__review__pmid"))

    def expected_values(self, units: Iterable[int]) -> dict[int, Value]:
        """Return the number of the gold sentence."""
        rows = MatchCandidate.objects.filter(item__unit__in=list(units), is_gold=True)
        return {unit: {FIELD: position} for unit, position in rows.values_list("item__unit", "position")}

    # Cards and answers

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        """Load items in two queries. For a round that is being planned, compute them."""
        units = [assignment.unit_id for assignment in assignments]
        if round.pk is None:
            return Batch(_planned_items(units, round))
        candidates = Prefetch("candidates", MatchCandidate.objects.select_related("sentence").order_by("position"))
        items = MatchItem.objects.filter(unit__in=units).select_related("target").prefetch_related(candidates)
        return Batch({item.unit_id: _texts(item.target, item.candidates.all()) for item in items})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the target and four sentences without further information, in an order specific to the assignment."""
        target, texts = batch.rows[assignment.unit_id]
        order = order_of(target.key, assignment, round.seed)
        return {"target": target.text, "candidates": [{"number": n, "text": texts[n - 1]} for n in order]}

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        Match.objects.bulk_create(
            Match(unit_id=answer.assignment.unit_id, answer=answer, most_relevant=value[FIELD])
            for answer, value in answers
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = Match.objects.filter(answer__in=list(answers)).values_list("answer", FIELD)
        return {answer: {FIELD: place} for answer, place in rows}

    def row(self, value: Value) -> Row:
        return {FIELD: str(value[FIELD])}


def _planned_items(units: Sequence[int], round: Round) -> dict[int, tuple[Target, list[str]]]:
    """Return targets (unit ids) with the candidates that the planned round would create."""
    matchable = matching.find_matchable(round.project, str(round.options[NEAREST_BY]), units)
    targets = Target.objects.filter(unit__in=units, pk__in=matchable.honest).values_list("unit", "pk")
    items = {unit: draw_item(matchable, pk, round.seed) for unit, pk in targets}
    return {unit: _texts(item.target, item.candidates) for unit, item in items.items()}


def _texts(target: Target, candidates: Iterable[Any]) -> tuple[Target, list[str]]:
    """Return a target and its candidates in order of their numbers."""
    return target, [candidate.sentence.text for candidate in candidates]
