"""Task kind *evidence*: which sentences of a study's abstract support a target sentence."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from rest_framework import serializers

from accounts.models import User
from annotation.clusters.sentences import rows_of, sentences_json
from annotation.evidence.current import FIELD, KIND, current_targets_of
from annotation.kinds.evidence import current, layout
from annotation.kinds.sentences.serializers import AbstractSentenceSerializer
from annotation.kinds.units import TargetSentenceKind, of_reviews
from annotation.models import EvidencePair, Input, Level, Ranking, Sentence, Support, SupportSentence, Target
from api.fields import at_most
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures import span_agreement
from measures.agreement import Scale
from measures.evidence import FIRST
from measures.text_agreement import Comparison
from projects.kinds import Batch, Filter, Row, SkipReason, Value, groups
from projects.kinds.majority import AggregationResult, by_part
from projects.kinds.stored import having
from projects.models import Answer, Assignment, Project, Round, Unit

Plain = serializers.Serializer[Any]
#: M3's evidence is the minimum that supports a target: one or two sentences.
MOST = 2


def _numbers(most: int, **more: Any) -> Any:
    return serializers.ListField(child=serializers.IntegerField(min_value=1), **at_most(most), **more)


class EvidenceCardSerializer(Plain):
    """A target sentence and the sentences of one study's abstract."""

    target = serializers.CharField()
    review_title = serializers.CharField(allow_blank=True, help_text="Title of the target's review.")
    pmid = serializers.CharField(help_text="PMID of the study.")
    title = serializers.CharField(allow_blank=True)
    sentences = AbstractSentenceSerializer(many=True)
    ranks = _numbers(
        FIRST,
        allow_null=True,
        help_text="Numbers of the nearest sentences, nearest first. Empty if they are not ranked yet, null if the "
        "round hides ranks.",
    )


class SupportValueSerializer(Plain):
    """The numbers of the sentences that support the target; empty if the study does not support it."""

    support = _numbers(MOST)
    ranked = _numbers(FIRST, default=list, help_text="Sentences that were shown as ranks 1, 2 and 3.")

    def validate_support(self, numbers: list[int]) -> list[int]:
        if len(set(numbers)) != len(numbers):
            raise serializers.ValidationError("A sentence is marked twice. Mark each sentence once.")
        return sorted(numbers)


RANKS = "evidence_ranks"
NEWEST, HIDDEN = "newest", "hidden"
MATCHES = "evidence_matches"
SAME, OVERLAP = "same", "overlap"
SUPPORTED_OR_NOT = ("supported", "no support")


def _without_evidence(units: QuerySet[Unit], _: bool) -> QuerySet[Unit]:
    """Filter target sentences that have neither inputs nor pairs."""
    inputs = Input.objects.current().filter(target__unit=OuterRef("pk"))
    pairs = EvidencePair.objects.filter(target__unit=OuterRef("pk"))
    return units.filter(~Exists(inputs) & ~Exists(pairs))


class EvidenceKind(TargetSentenceKind):
    """One target sentence and one study of its review. The targets of one study are shown together."""

    key = KIND
    title = "Map targets to evidence"
    description = "Which sentences of a study support this conclusion?"
    group = groups.CORPUS
    order = 40
    unit_types: Sequence[str] = (layout.PAIR,)
    fields: Sequence[str] = (FIELD,)
    assumed_seconds = 30.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("split wrongly", "Sentence boundaries are wrong"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = EvidenceCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = SupportValueSerializer
    options: Sequence[Parameter] = (
        Parameter(
            RANKS,
            Takes.CHOICE,
            "Ranks of the three nearest sentences",
            default=NEWEST,
            choices=(NEWEST, HIDDEN),
            words=("of the newest ranking", "hidden"),
            required=True,
            help="Ranks may bias annotators. Hide them to evaluate a ranking against the answers.",
        ),
    )
    policy = (
        Parameter(
            MATCHES,
            Takes.CHOICE,
            "Marked sentences agree when they",
            default=OVERLAP,
            choices=(SAME, OVERLAP),
            words=("are the same", "share one"),
            help="Applies when answers are compared with gold, as in practice rounds.",
        ),
    )
    filters: Sequence[Filter] = (
        of_reviews(lambda pmids: Q(target__review__pmid__in=pmids) | Q(evidence_pair__target__review__pmid__in=pmids)),
        Filter(
            Parameter("search", Takes.TEXT, "In the target sentence"),
            lambda units, words: units.filter(
                Q(target__text__icontains=words) | Q(evidence_pair__target__text__icontains=words)
            ),
        ),
        Filter(Parameter("no_evidence_yet", Takes.SWITCH, "Only targets without evidence"), _without_evidence),
    )
    scales: Sequence[Scale] = (Scale("supported or not", SUPPORTED_OR_NOT, "supported"),)
    comparisons: Sequence[Comparison] = (
        Comparison("marked sentences", "f1", ("sentences",)),
        Comparison("marked sentences", "same", ("sentences",)),
    )
    field_values = {FIELD: tuple((key, key) for key in SUPPORTED_OR_NOT)}
    columns: Sequence[str] = ("supported", "sentences", "ranked")

    # Options

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """Add the names of the project's rankings to the choices."""
        rows = Ranking.objects.filter(target__project=project).order_by("ranker").values_list("ranker", flat=True)
        names = tuple(rows.distinct())
        [ranks] = self.options
        return (replace(ranks, choices=(*ranks.choices, *names), words=(*ranks.words, *names)),)

    # Units

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Return the existing pairs."""
        return Unit.objects.filter(project=project, type=layout.PAIR).order_by("context", "position", "pk")

    #: Each pair is judged independently, so a rolling round can add pairs.
    rolls = True

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if round.meaning.chooses != "any":
            return chosen
        pairs = layout.get_or_create_pairs(round, [unit for unit, _ in chosen])
        if not pairs and not round.is_rolling:
            raise Refused.field(
                "filters", "No study of these targets' reviews has an abstract. Fetch the records of the studies first."
            )
        return pairs

    def count_after_layout(self, project: Project, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        return layout.count_pairs(chosen)

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the current target sentences."""
        current = Target.objects.current().filter(
            project=OuterRef("target__project"), level=Level.SENTENCE, key=OuterRef("target__key")
        )
        rows = EvidencePair.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", Coalesce(Subquery(current.values("text")[:1]), F("target__text"))))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        rows = EvidencePair.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", "target__review__pmid"))

    def dependents_of(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """Return the pairs of target sentences that change."""
        identities = list(Target.objects.filter(unit__in=units, level=Level.SENTENCE).values_list("project", "key"))
        pairs = EvidencePair.objects.filter(
            target__project__in={project for project, _ in identities}, target__key__in={key for _, key in identities}
        )
        return Unit.objects.filter(pk__in=pairs.values("unit")) if identities else Unit.objects.none()

    # Cards and answers

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        rows = EvidencePair.objects.filter(unit__in=[assignment.unit_id for assignment in assignments])
        pairs = {p.unit_id: p for p in rows.select_related("target__unit", "target__review", "study")}
        planned = [assignment.unit_id for assignment in assignments if assignment.unit_id not in pairs]
        pairs |= layout.preview_pairs(planned) if planned else {}
        current = current_targets_of(list(pairs.values()))
        study_ids = {pair.study_id for pair in pairs.values() if pair.study_id}
        sentences: dict[int, list[Sentence]] = defaultdict(list)
        for sentence in Sentence.objects.filter(study__in=study_ids).order_by("study_id", "number"):
            sentences[sentence.study_id or 0].append(sentence)
        return Batch(
            pairs, {"now": current, "sentences": sentences, "ranks": _ranks(round, current.values(), study_ids)}
        )

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        pair: EvidencePair = batch.rows[assignment.unit_id]
        target: Target = batch.extra["now"][assignment.unit_id]
        # The sentences of an abstract may not be stored yet if the round is being planned.
        sentences = batch.extra["sentences"].get(pair.study_id) or rows_of(pair.study)
        ranks = batch.extra["ranks"]
        if ranks is not None:
            order = ranks.get((target.pk, pair.study_id), [])
            # A ranking of a different number of sentences belongs to another abstract.
            ranks = order[:FIRST] if len(order) == len(sentences) else []
        return {
            "target": target.text,
            "review_title": pair.target.review.title,
            "pmid": pair.study.pmid,
            "title": pair.study.title,
            "sentences": sentences_json(sentences),
            "ranks": ranks,
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        """Check that the marked sentences and the ranked ones are sentences of this abstract."""
        numbers_by_field = {FIELD: value[FIELD], "ranked": value.get("ranked", [])}
        numbers_ = {number for numbers in numbers_by_field.values() for number in numbers}
        existing = Sentence.objects.filter(study__evidence_pairs__unit=assignment.unit_id, number__in=numbers_)
        missing = numbers_ - set(existing.values_list("number", flat=True)) if numbers_ else set()
        for name, numbers in numbers_by_field.items():
            if unknown := missing & set(numbers):
                raise Refused.field(f"value.{name}", f"This abstract has no sentence number {min(unknown)}.")

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        supports = Support.objects.bulk_create(
            Support(unit_id=answer.assignment.unit_id, answer=answer, ranked=value.get("ranked", []))
            for answer, value in answers
        )
        rows = Sentence.objects.filter(study__evidence_pairs__unit__in={support.unit_id for support in supports})
        columns = ("study__evidence_pairs__unit", "number", "pk")
        ids = {(unit, number): pk for unit, number, pk in rows.values_list(*columns)}
        SupportSentence.objects.bulk_create(
            SupportSentence(support=support, sentence_id=ids[support.unit_id, number])
            for support, (_, value) in zip(supports, answers, strict=True)
            for number in value[FIELD]
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        supports = list(Support.objects.filter(answer__in=list(answers)))
        marked: dict[int, list[int]] = {support.pk: [] for support in supports}
        rows = SupportSentence.objects.filter(support__in=supports).order_by("support", "sentence__number")
        for support, number in rows.values_list("support", "sentence__number"):
            marked[support].append(number)
        return {support.answer_id: {FIELD: marked[support.pk], "ranked": support.ranked} for support in supports}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[Support]:
        marked = SupportSentence.objects.filter(support=OuterRef("pk"))
        return having(Support.objects.all(), keys, yes=SUPPORTED_OR_NOT[0], has=Exists(marked))

    def value_key(self, field: str, value: Value) -> str:
        return SUPPORTED_OR_NOT[not value.get(field)]

    def migrate(self, value: Value, unit: Unit) -> Value:
        """Keep the numbers, because an abstract never changes. Drop the ranks, which were computed for the old text."""
        return {FIELD: value[FIELD], "ranked": []}

    # Decisions and agreement

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Update the inputs of the targets from the current values."""
        current.update_inputs(units, by=by, reason=reason)

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        """Aggregate the sentences marked by a majority, if some answer equals that set."""
        return [by_part(FIELD, answers, lambda value: dict.fromkeys(value[FIELD], "marked"))]

    def is_correct(self, field: str, value: Value, expected: Value, round: Round) -> bool | None:
        marked, gold = set(value[field]), set(expected[field])
        if round.policy.get(MATCHES, OVERLAP) == SAME or not marked or not gold:
            return marked == gold
        return bool(marked & gold)

    def distance(self, field: str, one: Value, other: Value) -> float:
        shared = span_agreement.f1(_codes(one), _codes(other))
        return 0.0 if shared is None else 1.0 - shared

    def row(self, value: Value) -> Row:
        return {
            "supported": SUPPORTED_OR_NOT[not value[FIELD]],
            "sentences": span_agreement.as_cell(_codes(value)),
            "ranked": ", ".join(str(number) for number in value.get("ranked", [])),
        }

    def sentence(self, field: str, value: Value) -> str:
        numbers = [str(number) for number in value[field]]
        return f"sentence{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}" if numbers else "no support"


def _codes(value: Value) -> frozenset[str]:
    return frozenset(str(number) for number in value[FIELD])


def _ranks(round: Round, targets: Iterable[Target], studies: Iterable[int]) -> dict[tuple[int, int], list[int]] | None:
    """Return the order of the sentences by target and study in the ranking that the round shows.

    Return None if the round shows none. One query.
    """
    option = round.options.get(RANKS, NEWEST)
    if option == HIDDEN:
        return None
    rows = Ranking.objects.filter(target__in=[target.pk for target in targets], study__in=studies)
    if option != NEWEST:
        rows = rows.filter(ranker=option)
    # The newest ranking comes last and replaces the earlier ones.
    orders = rows.order_by("made_at", "pk").values_list("target", "study", "order")
    return {(target, study): order for target, study, order in orders}
