"""Task kind *label*: polarity and modality of a proposition, with the cues that show them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Prefetch, QuerySet, Subquery
from rest_framework import serializers

from accounts.models import User
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures import spans
from measures.span_agreement import character_f1
from measures.text_agreement import By, Comparison
from projects.kinds import AggregationResult, Batch, Filter, Scale, Sheet, SkipReason, Value, check_fragments
from projects.kinds.stored import MARKED, MARKED_OR_NOT, NOT_MARKED, having
from projects.models import Answer, Assignment, Round, Unit
from sql.compiled import CompiledSelect, insert

from ...clusters import pico
from ...consistency import findings
from ...models import Cue, CueFragment, Label, Modality, PicoElement, Polarity, Proposition
from .. import cue_lexicon
from ..units import PROPOSITION_FILTERS, PropositionKind
from .gold import CuePolicy, aggregate_label, cue_matches, label_values
from .serializers import LabelCardSerializer, LabelValueSerializer
from .sheet import LABEL_SHEET, WITHOUT_CUES

ASPECTS = (Cue.Aspect.POLARITY, Cue.Aspect.MODALITY)
COMPARED: tuple[By, ...] = ("token", "exact")
#: Whether a round asks for cues. Rounds created before the option existed asked for them.
WITH_CUES = "with_cues"

#: Annotation of propositions: number of current propositions in the cluster.
SIZE = "size_of_cluster"


def _propositions_with_size() -> QuerySet[Proposition]:
    """Return propositions with their cluster and its current size."""
    # A subquery instead of a join: without table statistics, PostgreSQL scans all units for the join.
    successor = Subquery(Unit.objects.filter(pk=OuterRef("unit")).values("superseded_by")[:1])
    of_cluster = Proposition.objects.filter(cluster=OuterRef("cluster")).alias(gone=successor)
    others = of_cluster.filter(gone=None).order_by().values("cluster")
    size = Subquery(others.annotate(n=Count("pk")).values("n"))
    return Proposition.objects.select_related("cluster").annotate(**{SIZE: size})


# Queries that run for every answer, compiled once (`sql.compiled`).
_HELD_PROPOSITIONS = CompiledSelect(
    lambda one, other: _propositions_with_size().filter(unit__in=[one, other]), one=int, other=int
)
_HELD_ELEMENTS = CompiledSelect(
    # Filter by cluster ids. With a subquery, PostgreSQL reads all elements if it expects few of them.
    lambda one, other: PicoElement.objects.filter(cluster__in=[one, other]).order_by("id"),
    one=int,
    other=int,
)
_OF_UNIT = CompiledSelect(lambda unit: Proposition.objects.filter(unit=unit), unit=int)


def _of_role(units: QuerySet[Unit], role: str) -> QuerySet[Unit]:
    return units.filter(**{"proposition__position" if role == "target" else "proposition__position__gt": 0})


class LabelKind(PropositionKind):
    """Polarity and modality of one proposition, with its PICO tuple. Propositions of one cluster are shown together."""

    key = "label"
    title = "Label propositions"
    description = "Polarity and modality of one finding, with the words that show them."
    order = 70
    takes_suggestions = True
    fields: Sequence[str] = ("polarity", "polarity_cue", "modality", "modality_cue")
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("several claims", "It makes several claims that differ"),
        SkipReason("pico mismatch", "It is not about this PICO tuple"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = LabelCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = LabelValueSerializer
    judged_by: Sequence[str] = ("tuple",)
    filters: Sequence[Filter] = (
        Filter(Parameter("role", Takes.CHOICE, "Role", choices=("target", "input")), _of_role),
        *PROPOSITION_FILTERS,
    )
    options = (
        Parameter(
            WITH_CUES,
            Takes.SWITCH,
            "Ask for cues",
            default=True,
            help="If off, annotators select only polarity and modality, as in M3's reliability study.",
        ),
        Parameter("suggestions", Takes.SWITCH, "Suggest cues", default=False, help="Suggestions may bias annotators."),
    )
    policy = (
        Parameter(
            "cues",
            Takes.CHOICE,
            "Cues agree when they",
            default="overlap",
            choices=get_args(CuePolicy),
            words=("are the same", "overlap", "are ignored"),
        ),
    )
    scales: Sequence[Scale] = (
        Scale("polarity", tuple(Polarity.values), "polarity"),
        Scale("modality", tuple(Modality.values), "modality"),
        # `no evidence` is not a point between weak and strong claims, so it counts as missing on this scale.
        Scale(
            "modality as a rank",
            ("weak", "moderate", "strong"),
            "modality",
            weights="linear",
            metric="ordinal",
            missing=(Modality.NO_EVIDENCE.value,),
        ),
    )
    comparisons: Sequence[Comparison] = tuple(
        Comparison(f"{aspect} cue", by, (f"{aspect}_cue",)) for aspect in ASPECTS for by in COMPARED
    )
    field_values = {
        "polarity": Polarity.choices,
        "polarity_cue": MARKED_OR_NOT,
        "modality": Modality.choices,
        "modality_cue": MARKED_OR_NOT,
    }
    columns: Sequence[str] = ("polarity", "polarity_cue", "modality", "modality_cue")
    sheet: Sheet | None = LABEL_SHEET
    headings = {
        "polarity": "Polarity: is the effect good or bad?",
        "modality": "Modality: how strongly is it claimed?",
        "polarity_cue": "Cues",
        "modality_cue": "Cues",
    }

    def fields_of(self, round: Round) -> Sequence[str]:
        return self.fields if asks_cues(round) else ASPECTS

    def sheet_of(self, round: Round) -> Sheet | None:
        return self.sheet if self.sheet is None or asks_cues(round) else WITHOUT_CUES

    def comparisons_of(self, round: Round) -> Sequence[Comparison]:
        return self.comparisons if asks_cues(round) else ()

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        units = [assignment.unit_id for assignment in assignments]
        if 0 < len(units) <= 2:  # the held assignments of one person
            propositions = {p.unit_id: p for p in _HELD_PROPOSITIONS.all(one=units[0], other=units[-1])}
            clusters_ = [p.cluster_id for p in propositions.values()]
            elements = _HELD_ELEMENTS.all(one=clusters_[0], other=clusters_[-1])
        else:
            propositions = {p.unit_id: p for p in _propositions_with_size().filter(unit__in=units)}
            clusters = {p.cluster_id for p in propositions.values()}
            elements = list(PicoElement.objects.filter(cluster__in=clusters).order_by("id"))
        by_cluster: dict[int, list[PicoElement]] = defaultdict(list)
        for element in elements:
            by_cluster[element.cluster_id].append(element)
        sizes = {p.cluster_id: getattr(p, SIZE) for p in propositions.values()}
        return Batch(propositions, {"elements": by_cluster, "sizes": sizes})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the text, its PICO tuple located in this text, and its position in the cluster."""
        proposition: Proposition = batch.rows[assignment.unit_id]
        text = proposition.text
        return {
            "text": text,
            "role": "target" if proposition.is_target else "input",
            "pico": [self._element(element, text) for element in batch.extra["elements"][proposition.cluster_id]],
            "context": {
                "key": proposition.cluster.key,
                "index": proposition.position + 1,
                "size": batch.extra["sizes"][proposition.cluster_id],
            },
            "candidates": self.suggested(text, round),
            "asks_cues": asks_cues(round),
        }

    @staticmethod
    def suggested(text: str, round: Round) -> list[dict[str, int]] | None:
        """Return candidate cues if the round shows them."""
        if not round.options.get("suggestions") or not asks_cues(round):
            return None
        return [{"start": start, "end": end} for start, end in cue_lexicon.find_cues(text)]

    @staticmethod
    def _element(element: PicoElement, text: str) -> dict[str, Any]:
        """Return an element with its position in ``text``, if any. Stored offsets refer to the target text."""
        located = pico.find_range(text, element.text)
        return {
            "element": element.element,
            "form": element.form,
            "text": element.text,
            "fragments": [{"start": located[0], "end": located[1]}] if located else [],
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        """Check that cues are in the text, in order, and quoted exactly."""
        marked_fields = [f"{aspect}_cue" for aspect in ASPECTS if value[f"{aspect}_cue"]]
        if not marked_fields:
            return
        if not asks_cues(assignment.round):
            why = "This round does not ask for cues. Leave them out."
            raise Refused.field(f"value.{marked_fields[0]}", why)
        text = self.text_of(assignment.unit)
        for aspect in ASPECTS:
            if fragments := value[f"{aspect}_cue"]:
                check_fragments(text, fragments, f"value.{aspect}_cue")

    def text_of(self, unit: Unit) -> str:
        """Return the text that cues are marked in."""
        is_loaded = "proposition" in unit._state.fields_cache
        return unit.proposition.text if is_loaded else _OF_UNIT.all(unit=unit.pk)[0].text

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        labels = [_row(answer, value) for answer, value in answers]
        insert(labels)
        marked = [
            (label, aspect, fragments)
            for label, (_, value) in zip(labels, answers, strict=True)
            for aspect in ASPECTS
            if (fragments := value[f"{aspect}_cue"])
        ]
        cues = [
            Cue(label=label, aspect=aspect, text=" ... ".join(f["quote"] for f in fragments), found=Cue.Found.SELECTED)
            for label, aspect, fragments in marked
        ]
        insert(cues)
        insert(
            [
                CueFragment(cue=cue, position=i, start=f["start"], end=f["end"], quote=f["quote"])
                for cue, (_, _, fragments) in zip(cues, marked, strict=True)
                for i, f in enumerate(fragments)
            ]
        )

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        findings.recheck([unit.pk for unit in units])

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        return label_values(answers)

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        labels = _with_cues(Label.objects.filter(unit__in=list(units), imported__in=list(imported)))
        return {(label.unit_id, label.imported_id or 0): _value(label) for label in labels}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[Label]:
        if not field.endswith("_cue"):
            return Label.objects.filter(**{f"{field}__in": keys})
        cues = Cue.objects.filter(label=OuterRef("pk"), aspect=field.removesuffix("_cue"))
        return having(Label.objects.all(), keys, yes=MARKED, has=Exists(cues))

    def value_key(self, field: str, value: Value) -> str:
        if not field.endswith("_cue"):
            return super().value_key(field, value)
        # An imported cue that was not found in the text has no ranges.
        return MARKED if value.get(field) or value.get(f"{field}_text") else NOT_MARKED

    def migrate(self, value: Value, unit: Unit) -> Value:
        """Keep the words of cues: find each piece in the current text, after the previous one."""
        text = Proposition.objects.values_list("text", flat=True).get(unit=unit)
        values = {"polarity": value["polarity"], "modality": value["modality"]}
        return values | {f"{a}_cue": _relocated(text, value, f"{a}_cue") for a in ASPECTS}

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        results = aggregate_label(answers, cue_policy=round.policy.get("cues", "overlap"))
        return [result for result in results if result.field in self.fields_of(round)]

    def is_correct(self, field: str, value: Value, expected: Value, round: Round) -> bool | None:
        """Compare cues under the round's policy. Return None if an import could not locate the expected cue."""
        if not field.endswith("_cue"):
            return bool(value[field] == expected[field])
        if expected.get(f"{field}_found") == Cue.Found.ABSENT:
            return None
        return cue_matches(value[field], expected[field], round.policy.get("cues", "overlap"))

    def part_of(self, field: str, value: Value) -> Value:
        """Return a cue with its imported details: text, how it was found, and number of occurrences."""
        names = (field, f"{field}_text", f"{field}_found", f"{field}_occurrences")
        return {name: value[name] for name in names if name in value}

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the distance of two values; for cues, 1 minus the F1 of their characters."""
        if not field.endswith("_cue"):
            return super().distance(field, one, other)
        shared = character_f1(_ranges(one[field]), _ranges(other[field]))
        return 0.0 if shared is None else 1.0 - shared

    def row(self, value: Value) -> dict[str, str]:
        return {
            "polarity": value["polarity"],
            "polarity_cue": _cell(value["polarity_cue"]),
            "modality": value["modality"],
            "modality_cue": _cell(value["modality_cue"]),
        }

    def sentence(self, field: str, value: Value) -> str:
        if field.endswith("_cue"):
            return " ... ".join(f["quote"] for f in value[field]) or value.get(f"{field}_text", "") or "no cue"
        return str(value[field])


def asks_cues(round: Round) -> bool:
    """Return whether a round asks people to mark cues."""
    return bool(round.options.get(WITH_CUES, True))


def _row(answer: Answer, value: Value) -> Label:
    suggestions = value.get("suggestions") or {}
    return Label(
        unit_id=answer.assignment.unit_id,
        answer=answer,
        polarity=value["polarity"],
        modality=value["modality"],
        suggestions_accepted=suggestions.get("accepted"),
        suggestions_edited=suggestions.get("edited"),
        suggestions_rejected=suggestions.get("rejected"),
    )


def _ranges(fragments: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    return [(f["start"], f["end"]) for f in fragments]


def _cell(fragments: Sequence[Mapping[str, Any]]) -> str:
    return spans.as_cell((f["start"], f["end"], f["quote"]) for f in fragments)


def _relocated(text: str, value: Value, field: str) -> list[dict[str, Any]]:
    """Locate the fragments of a cue in another text. Raise `Refused` if its position is ambiguous or missing."""
    if value.get(f"{field}_found") == Cue.Found.ABSENT:
        raise Refused.field(
            field, f"The cue {value[f'{field}_text']!r} does not occur in the text. Label the proposition again."
        )
    quotes = [f["quote"] for f in value[field]]
    try:
        ranges = spans.place(text, quotes)
    except spans.SpanError as error:
        raise Refused.field(
            field, f"The cue cannot be located in the new text: {error}. Label the proposition again."
        ) from None
    return [{"start": s, "end": e, "quote": q} for (s, e), q in zip(ranges, quotes, strict=True)]


def _with_cues(labels: QuerySet[Label]) -> QuerySet[Label]:
    return labels.prefetch_related(Prefetch("cues", Cue.objects.prefetch_related("fragments")))


def _value(label: Label) -> Value:
    """Return a label in the form of the value serializer.

    An imported cue that was not found has a text but no fragments.
    """
    value: Value = {"polarity": label.polarity, "modality": label.modality, "polarity_cue": [], "modality_cue": []}
    for cue in label.cues.all():
        value[f"{cue.aspect}_cue"] = [{"start": f.start, "end": f.end, "quote": f.quote} for f in cue.fragments.all()]
        if label.imported_id:
            value[f"{cue.aspect}_cue_text"] = cue.text
            value[f"{cue.aspect}_cue_found"] = cue.found
            value[f"{cue.aspect}_cue_occurrences"] = cue.occurrences
    if label.suggestions_accepted is not None:
        value["suggestions"] = {
            "accepted": label.suggestions_accepted,
            "edited": label.suggestions_edited,
            "rejected": label.suggestions_rejected,
        }
    return value
