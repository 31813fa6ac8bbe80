"""The task kind *evidence*: which sentences of a study's abstract support a target sentence (TASKS: evidence)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from rest_framework import serializers

from accounts.models import User
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures import sets
from measures.agreement import Scale
from measures.evidence import FIRST
from measures.text_agreement import Comparison
from projects.kinds import Batch, Filter, Row, SkipReason, Value
from projects.kinds.majority import Verdict, by_part
from projects.models import Answer, Assignment, Project, Round, Unit

from ...corpus.sentences import rows_of, shown
from ...models import EvidencePair, Input, Level, Ranking, Sentence, Support, SupportSentence, Target
from ...values.evidence import FIELD, KIND, count_pairs, in_their_place, targets
from ..filters import of_reviews
from ..target_sentences import TargetSentenceKind
from . import in_force, layout
from .serializers import EvidenceCardSerializer, SupportValueSerializer

RANKS = "evidence_ranks"
NEWEST, HIDDEN = "newest", "hidden"
MATCHES = "evidence_matches"
SAME, OVERLAP = "same", "overlap"
SUPPORTED_OR_NOT = ("supported", "no support")


def _without_evidence(units: QuerySet[Unit], _: bool) -> QuerySet[Unit]:
    """Target sentences without inputs, of which no pair is laid out either."""
    inputs = Input.objects.current().filter(target__unit=OuterRef("pk"))
    asked = EvidencePair.objects.filter(target__unit=OuterRef("pk"))
    return units.filter(~Exists(inputs) & ~Exists(asked))


class EvidenceKind(TargetSentenceKind):
    """One target sentence and one study of its review; those of one study come together."""

    key = KIND
    title = "Map targets to evidence"
    order = 40
    unit_types: Sequence[str] = (layout.PAIR,)
    fields: Sequence[str] = (FIELD,)
    tables = (EvidencePair, Support, SupportSentence)
    assumed_seconds = 30.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("split wrongly", "The sentences are not cut where they end"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = EvidenceCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = SupportValueSerializer
    options: Sequence[Parameter] = (
        Parameter(
            RANKS, Takes.CHOICE, "Ranks of the three nearest sentences", default=NEWEST, choices=(NEWEST, HIDDEN),
            words=("of the newest ranking", "hidden"), required=True,
            help="Ranks may bias annotators: hide them where a ranking is to be held against what people find.",
        ),
    )  # fmt: skip
    policy = (
        Parameter(
            MATCHES, Takes.CHOICE, "Marked sentences agree when they", default=OVERLAP, choices=(SAME, OVERLAP),
            words=("are the same", "share one"), help="Where an answer is held against gold, as in practice.",
        ),
    )  # fmt: skip
    filters: Sequence[Filter] = (
        of_reviews(lambda pmids: Q(target__review__pmid__in=pmids) | Q(evidence_pair__target__review__pmid__in=pmids)),
        Filter(
            Parameter("search", Takes.TEXT, "In the target sentence"),
            lambda units, words: units.filter(
                Q(target__text__icontains=words) | Q(evidence_pair__target__text__icontains=words)
            ),
        ),
        Filter(Parameter("no_evidence_yet", Takes.SWITCH, "Only targets without evidence so far"), _without_evidence),
    )
    scales: Sequence[Scale] = (Scale("supported or not", SUPPORTED_OR_NOT, "supported"),)
    comparisons: Sequence[Comparison] = (
        Comparison("marked sentences", "f1", ("sentences",)),
        Comparison("marked sentences", "same", ("sentences",)),
    )
    columns: Sequence[str] = ("supported", "sentences", "ranked")

    # What a lead sets

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """Any one ranking of the project can be shown by its name."""
        rows = Ranking.objects.filter(target__project=project).order_by("ranker").values_list("ranker", flat=True)
        names = tuple(rows.distinct())
        [ranks] = self.options
        return (replace(ranks, choices=(*ranks.choices, *names), words=(*ranks.words, *names)),)

    # Which units

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Pairs that were laid out."""
        return Unit.objects.filter(project=project, type=layout.PAIR).order_by("context", "position", "pk")

    #: Each pair is asked for itself, whatever other targets and studies there are.
    rolls = True

    def lay_out(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if round.meaning.chooses != "any":
            return chosen
        pairs = layout.units_of(round, [unit for unit, _ in chosen])
        if not pairs and not round.is_rolling:
            raise Refused.field("filters", "The reviews of these targets have no studies whose abstracts are known.")
        return pairs

    def units_after_layout(self, project: Project, chosen: int, plan: Mapping[str, Any]) -> int:
        """As many studies as a target of the project has on average."""
        return round(chosen * count_pairs(project) / max(1, targets(project).count()))

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """The target sentences in force."""
        now = Target.objects.current().filter(
            project=OuterRef("target__project"), level=Level.SENTENCE, key=OuterRef("target__key")
        )
        rows = EvidencePair.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", Coalesce(Subquery(now.values("text")[:1]), F("target__text"))))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        rows = EvidencePair.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", "target__review__pmid"))

    def hanging_on(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """The pairs of target sentences that change."""
        there = list(Target.objects.filter(unit__in=units, level=Level.SENTENCE).values_list("project", "key"))
        of = EvidencePair.objects.filter(
            target__project__in={project for project, _ in there}, target__key__in={key for _, key in there}
        )
        return Unit.objects.filter(pk__in=of.values("unit")) if there else Unit.objects.none()

    # What is shown, and what is said

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        rows = EvidencePair.objects.filter(unit__in=[slot.unit_id for slot in slots])
        pairs = {p.unit_id: p for p in rows.select_related("target__unit", "target__review", "study")}
        planned = [slot.unit_id for slot in slots if slot.unit_id not in pairs]
        pairs |= layout.first_of(planned) if planned else {}
        now = in_their_place(list(pairs.values()))
        of = {pair.study_id for pair in pairs.values() if pair.study_id}
        sentences: dict[int, list[Sentence]] = defaultdict(list)
        for sentence in Sentence.objects.filter(study__in=of).order_by("study_id", "number"):
            sentences[sentence.study_id or 0].append(sentence)
        return Batch(pairs, {"now": now, "sentences": sentences, "ranks": _ranks(round, now.values(), of)})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        pair: EvidencePair = batch.rows[slot.unit_id]
        target: Target = batch.extra["now"][slot.unit_id]
        # A round that is being planned may show an abstract that nobody has stored the sentences of yet.
        sentences = batch.extra["sentences"].get(pair.study_id) or rows_of(pair.study)
        ranks = batch.extra["ranks"]
        if ranks is not None:
            order = ranks.get((target.pk, pair.study_id), [])
            # One of fewer or more sentences is of another abstract.
            ranks = order[:FIRST] if len(order) == len(sentences) else []
        return {
            "target": target.text,
            "review_title": pair.target.review.title,
            "pmid": pair.study.pmid,
            "title": pair.study.title,
            "sentences": shown(sentences),
            "ranks": ranks,
        }

    def check(self, slot: Assignment, value: Value) -> None:
        """What is marked, and what was shown as ranked, are sentences of this abstract."""
        said = {FIELD: value[FIELD], "ranked": value.get("ranked", [])}
        wanted = {number for numbers in said.values() for number in numbers}
        there = Sentence.objects.filter(study__evidence_pairs__unit=slot.unit_id, number__in=wanted)
        missing = wanted - set(there.values_list("number", flat=True)) if wanted else set()
        for name, numbers in said.items():
            if strange := missing & set(numbers):
                raise Refused.field(f"value.{name}", f"This abstract has no sentence {min(strange)}.")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        supports = Support.objects.bulk_create(
            Support(unit_id=answer.assignment.unit_id, answer=answer, ranked=value.get("ranked", []))
            for answer, value in said
        )
        rows = Sentence.objects.filter(study__evidence_pairs__unit__in={support.unit_id for support in supports})
        columns = ("study__evidence_pairs__unit", "number", "pk")
        ids = {(unit, number): pk for unit, number, pk in rows.values_list(*columns)}
        SupportSentence.objects.bulk_create(
            SupportSentence(support=support, sentence_id=ids[support.unit_id, number])
            for support, (_, value) in zip(supports, said, strict=True)
            for number in value[FIELD]
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        supports = list(Support.objects.filter(answer__in=list(answers)))
        marked: dict[int, list[int]] = {support.pk: [] for support in supports}
        rows = SupportSentence.objects.filter(support__in=supports).order_by("support", "sentence__number")
        for support, number in rows.values_list("support", "sentence__number"):
            marked[support].append(number)
        return {one.answer_id: {FIELD: marked[one.pk], "ranked": one.ranked} for one in supports}

    def carry(self, value: Value, unit: Unit) -> Value:
        """An abstract never changes, so a number stays what it is. What was ranked was ranked for another text."""
        return {FIELD: value[FIELD], "ranked": []}

    # What it comes to

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """The inputs of the targets follow what is in force."""
        in_force.follow(units, by=by, reason=reason)

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        """Sentences that more than half marked, where somebody marked just those."""
        return [by_part(FIELD, answers, lambda value: dict.fromkeys(value[FIELD], "marked"))]

    def matches(self, field: str, said: Value, expected: Value, round: Round) -> bool | None:
        one, other = set(said[field]), set(expected[field])
        if round.policy.get(MATCHES, OVERLAP) == SAME or not one or not other:
            return one == other
        return bool(one & other)

    def apart(self, field: str, one: Value, other: Value) -> float:
        shared = sets.f1(_codes(one), _codes(other))
        return 0.0 if shared is None else 1.0 - shared

    def row(self, value: Value) -> Row:
        return {
            "supported": SUPPORTED_OR_NOT[not value[FIELD]],
            "sentences": sets.as_cell(_codes(value)),
            "ranked": ", ".join(str(number) for number in value.get("ranked", [])),
        }

    def sentence(self, field: str, value: Value) -> str:
        numbers = [str(number) for number in value[field]]
        return f"sentence{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}" if numbers else "no support"


def _codes(value: Value) -> frozenset[str]:
    return frozenset(str(number) for number in value[FIELD])


def _ranks(round: Round, of: Iterable[Target], studies: Iterable[int]) -> dict[tuple[int, int], list[int]] | None:
    """The order of the sentences by target and study, as the ranking that the round shows has it; None where it shows
    none. One query."""
    asked = round.options.get(RANKS, NEWEST)
    if asked == HIDDEN:
        return None
    rows = Ranking.objects.filter(target__in=[target.pk for target in of], study__in=studies)
    if asked != NEWEST:
        rows = rows.filter(ranker=asked)
    # The newest comes last, and stays.
    found = rows.order_by("made_at", "pk").values_list("target", "study", "order")
    return {(target, study): order for target, study, order in found}
