"""Task kind *counterfactual*: rewrite a target so that one aspect of it is false."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework import serializers

from accounts.models import User
from annotation.clusters.counterfactuals import element_ranges, labels_of
from annotation.clusters.gold import CueValue, Gold, gold_labels
from annotation.consistency import findings
from annotation.kinds import clusters
from annotation.kinds.counterfactual.serializers import (
    FIELDS,
    CounterfactualCardSerializer,
    CounterfactualValueSerializer,
)
from annotation.kinds.units import PropositionKind
from annotation.models import Counterfactual, PicoElement, Proposition, Rewriting
from api.parameters import Parameter, Takes
from api.problems import FieldErrors, Refused
from measures.counterfactual_drafts import Target, drafts
from measures.counterfactual_modality import OF_M3
from measures.counterfactual_words import BOOSTERS, HEDGES
from measures.counterfactuals import Kind, Labels, allowed, check
from measures.spans import Range
from measures.text_agreement import Comparison
from measures.word_edits import folded_words
from projects.gold.queries import current_decisions, values_of
from projects.kinds import Batch, Row, Scale, SkipReason, Value, groups
from projects.kinds.majority import AggregationResult, majority
from projects.kinds.stored import having
from projects.models import Answer, Assignment, Decision, Project, Round, Unit

KIND = "counterfactual"


def update_counterfactuals(units: Sequence[Unit]) -> None:
    """Add a version of each text that was decided anew.

    Add an empty version if a kind is decided not to apply, or if a decision was withdrawn. Imported texts stay until a
    decision replaces them. A fixed number of queries.
    """
    targets = list(Proposition.objects.filter(unit__in=units, position=0))
    decisions = current_decisions([u.pk for u in units], KIND)
    decided = values_of(units, KIND, decisions.values())
    newest: dict[tuple[int, str], Counterfactual] = {}
    for row in Counterfactual.objects.filter(target__in=targets).order_by("version"):
        newest[row.target_id, row.kind] = row
    Counterfactual.objects.bulk_create(
        version for target in targets for version in _new_versions(target, decided[target.unit_id], decisions, newest)
    )


def _new_versions(
    target: Proposition,
    decided: Mapping[str, Mapping[str, Any]],
    decisions: Mapping[tuple[int, str], Decision],
    newest: Mapping[tuple[int, str], Counterfactual],
) -> Iterator[Counterfactual]:
    for field, kind in FIELDS.items():
        before = newest.get((target.pk, kind.value))
        current_text = before.text if before else ""
        if field in decided:
            text, answer = decided[field]["text"], decisions[target.unit_id, field].answer_id
        elif before and before.answer_id:
            text, answer = "", before.answer_id
        else:
            continue
        if text != current_text:
            version = before.version + 1 if before else 1
            yield Counterfactual(
                target=target, kind=kind.value, version=version, text=text, answer_id=answer, withdrawn=not text
            )


def build_card(
    target: Proposition, gold: Mapping[str, Gold], *, fields: Iterable[str], with_drafts: bool
) -> dict[str, Any]:
    """Return the card of a target. Prefetch ``cluster__pico__fragments``."""
    rule_target = _target_of(target, target.cluster.pico.all(), gold)
    return {
        "text": target.text,
        "cluster": target.cluster.key,
        "pico": clusters.elements(target.cluster),
        "polarity": rule_target.labels and rule_target.labels.polarity,
        "modality": rule_target.labels and rule_target.labels.modality,
        "polarity_cue": [{"start": start, "end": end} for start, end in rule_target.polarity_cue],
        "modality_cue": [{"start": start, "end": end} for start, end in rule_target.modality_cue],
        "asked": [_requested_kind(name, rule_target, with_drafts) for name in fields],
        "hedges": list(HEDGES),
        "boosters": list(BOOSTERS),
    }


def _target_of(target: Proposition, elements: Collection[PicoElement], gold: Mapping[str, Gold]) -> Target:
    return Target(
        target.text,
        labels_of(gold),
        _cue_ranges(gold.get("polarity_cue")),
        _cue_ranges(gold.get("modality_cue")),
        element_ranges(elements),
    )


def _cue_ranges(cue: Gold | None) -> list[Range]:
    """Return the ranges of a current cue; empty if there is none, or if an imported cue was not found in the text."""
    value = cue.value if cue else None
    return [(f.start, f.end) for f in value.fragments] if isinstance(value, CueValue) else []


def _requested_kind(field: str, target: Target, with_drafts: bool) -> dict[str, Any]:
    kind = FIELDS[field]
    offered = drafts(kind, target) if with_drafts else []
    return {
        "field": field,
        "should": expected_label(kind, target.labels) if target.labels else "",
        "drafts": [{"rule": draft.rule.value, "text": draft.text} for draft in offered],
    }


def expected_label(kind: Kind, before: Labels) -> str:
    """Describe the expected label of a rewriting."""
    if not allowed(kind, before):
        return "does not apply to this label"
    if before.modality == "no evidence":
        return "should become a claim"
    match kind:
        case Kind.NEGATION:
            return "polarity may change, modality stays"
        case Kind.ANTONYM:
            return f"polarity should no longer be {before.polarity}"
        case Kind.NO_EFFECT:
            to = "positive or negative" if before.polarity == "no effect" else "no effect"
            return f"polarity should become {to}"
        case Kind.NO_EVIDENCE:
            return "should become no evidence"
        case Kind.MODALITY:
            return f"modality should become {OF_M3[before.modality]}"


#: Whether a kind has a text. This is the only part of an answer with declared categories.
APPLIES = ("applies", "does not apply")


class CounterfactualKind(PropositionKind):
    """A target proposition rewritten in up to five ways. Each is a text, or a reason why there is none."""

    key = "counterfactual"
    title = "Write counterfactuals"
    description = "Change one aspect of a target in at most five words."
    group = groups.TEST
    order = 90
    fields: Sequence[str] = tuple(FIELDS)
    judged_by = ("tuple", "label")
    assumed_seconds = 60.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("several claims", "It makes several claims"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = CounterfactualCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = CounterfactualValueSerializer
    options = (
        Parameter(
            "counterfactual_kinds",
            Takes.SEVERAL,
            "Kinds",
            default=[],
            choices=tuple(FIELDS),
            words=tuple(kind.value for kind in FIELDS.values()),
            help="If none is selected, all five kinds are asked for.",
        ),
        Parameter("drafts", Takes.SWITCH, "Offer drafts", default=True, help="Rule-based drafts may bias annotators."),
    )
    scales: Sequence[Scale] = (Scale("applies", APPLIES, "applies"),)
    comparisons: Sequence[Comparison] = (Comparison("text", "words", ("text",)),)
    field_values = dict.fromkeys(FIELDS, tuple((key, key) for key in APPLIES))
    columns: Sequence[str] = ("counterfactual", "applies", "text", "origin", "rule", "reason")
    part = "counterfactual"
    headings = {
        "negation": "Negation",
        "antonym": "Antonym",
        "no_effect": "No effect",
        "no_evidence": "No evidence",
        "modality": "Modality",
    }

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return targets in corpus order."""
        return super().units(project).filter(proposition__position=0)

    def fields_of(self, round: Round) -> Sequence[str]:
        chosen = round.options.get("counterfactual_kinds") or self.fields
        return [name for name in self.fields if name in chosen]

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        units = [assignment.unit_id for assignment in assignments]
        propositions = Proposition.objects.filter(unit__in=units).select_related("cluster")
        targets = {p.unit_id: p for p in propositions.prefetch_related("cluster__pico__fragments")}
        return Batch(targets, {"gold": gold_labels(units)})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        return build_card(
            batch.rows[assignment.unit_id],
            batch.extra["gold"].get(assignment.unit_id, {}),
            fields=self.fields_of(round),
            with_drafts=round.options.get("drafts", True),
        )

    def check(self, assignment: Assignment, value: Value) -> None:
        """Check that each requested kind has a reason or a text that is a counterfactual of the target.

        Warnings about a text are shown on the page and do not block the answer.
        """
        target = Proposition.objects.get(unit=assignment.unit_id)
        if not target.is_target:
            raise Refused.field("value", "Only targets have counterfactuals, and this proposition is an input.")
        requested, errors = self.fields_of(assignment.round), list[tuple[str, str]]()
        errors += [
            (name, "This round does not ask for this kind. Leave it out.") for name in value if name not in requested
        ]
        for name in requested:
            if name not in value:
                errors.append((name, "Write a text, or give the reason why the kind does not apply."))
            elif text := value[name]["text"]:
                errors += [(f"{name}.text", e.message) for e in check(FIELDS[name], target.text, text).errors]
        if errors:
            faults: FieldErrors = [{"field": f"value.{path}", "message": message} for path, message in errors]
            raise Refused(errors[0][1], errors=faults)

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        Rewriting.objects.bulk_create(
            Rewriting(unit_id=answer.assignment.unit_id, answer=answer, kind=FIELDS[name].value, **rewriting)
            for answer, value in answers
            for name, rewriting in value.items()
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        by_answer: dict[Any, Value] = defaultdict(dict)
        names = {kind.value: name for name, kind in FIELDS.items()}
        rows = Rewriting.objects.filter(answer__in=list(answers)).order_by("id")
        for answer, kind, *columns in rows.values_list("answer", "kind", "text", "origin", "rule", "reason"):
            by_answer[answer][names[kind]] = dict(zip(("text", "origin", "rule", "reason"), columns, strict=True))
        return dict(by_answer)

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[Rewriting]:
        return having(Rewriting.objects.filter(kind=FIELDS[field].value), keys, yes=APPLIES[0], has=~Q(text=""))

    def value_key(self, field: str, value: Value) -> str:
        return APPLIES[not value[field]["text"]] if field in value else ""

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        """Aggregate each kind: the text with the majority of words, or the majority answer that it does not apply."""
        return [_verdict(name, answers) for name in self.fields_of(round)]

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Update the counterfactuals that probes and releases read."""
        update_counterfactuals(units)
        findings.recheck([unit.pk for unit in units])

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        """Return whether text and reason are equal. The origin of a text is ignored."""
        own, others = one.get(field), other.get(field)
        if own is None or others is None:
            return own is others
        return (own["text"], own["reason"]) == (others["text"], others["reason"])

    def rows(self, value: Value) -> list[Row]:
        """Return one row per kind."""
        return [
            {"counterfactual": FIELDS[name].value, "applies": APPLIES[not one["text"]]} | one
            for name, one in value.items()
        ]

    def sentence(self, field: str, value: Value) -> str:
        rewriting = value[field]
        return str(rewriting["text"] or f"does not apply: {rewriting['reason']}")


def _verdict(field: str, answers: Sequence[tuple[Answer, Value]]) -> AggregationResult:
    def key(value: Value) -> Hashable:
        return folded_words(value[field]["text"])

    return majority(field, answers, key)[0]
