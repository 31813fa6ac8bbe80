"""Task kind *tuple*: the PICO tuple of a target proposition."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from rest_framework import serializers

from accounts.models import User
from annotation.clusters.items import refresh_search
from annotation.clusters.pico import ELEMENTS, blank, current_tuple, key_of, tuple_in_words, write_elements
from annotation.consistency import findings
from annotation.kinds import clusters
from annotation.kinds import tuples as tuple_elements
from annotation.kinds.tuples import CurrentElementSerializer, TupleValueSerializer, store_tuples
from annotation.models import Cluster, Element, PicoTuple, Proposition, TupleElement, TupleFragment
from measures.text_agreement import By, Comparison, word_f1
from projects.gold.actions import imported_decision, insert_decisions
from projects.gold.queries import current_values, withdrawn_values
from projects.kinds import Batch, Scale, SkipReason, Value
from projects.kinds.majority import AggregationResult, majority
from projects.kinds.stored import having
from projects.models import Answer, Assignment, Member, Round, Unit
from projects.staleness import actions as staleness_actions

KIND = "tuple"


def store(tuples: Sequence[tuple[PicoTuple, Value]]) -> None:
    """Insert the rows of tuples that were just inserted."""
    store_tuples(tuples, TupleElement, TupleFragment, "pico_tuple")


def keep_imported(units: Sequence[Unit]) -> None:
    """Store an imported tuple as a value with decisions, before the first decision replaces it.

    An import writes the elements only, which are sufficient until then.
    """
    undecided = (
        Cluster.objects.filter(unit__in=units, imported__isnull=False)
        .exclude(unit__pico_tuples__imported__isnull=False)
        .select_related("imported")
        .defer("imported__report")
        .prefetch_related("pico")
    )
    clusters = list(undecided)
    tuples = PicoTuple.objects.bulk_create(PicoTuple(unit_id=c.unit_id, imported_id=c.imported_id) for c in clusters)
    store(list(zip(tuples, map(current_tuple, clusters), strict=True)))
    insert_decisions(
        imported_decision(cluster.unit_id, KIND, element, cluster.imported_id, cluster.imported.created_at)
        for cluster in clusters
        for element in ELEMENTS
        if cluster.imported
    )


def rewrite(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Write the elements of these units' clusters from the current tuple.

    Labels and relations that were judged by an earlier tuple become stale. The first tuple of a cluster makes nothing
    stale.
    """
    clusters = list(Cluster.objects.filter(unit__in=units).select_related("unit").prefetch_related("pico"))
    decided = current_values([c.unit for c in clusters], KIND)
    withdrawn: dict[int, Value] = defaultdict(dict)
    for unit, element in withdrawn_values([c.unit_id for c in clusters], KIND):
        withdrawn[unit][element] = blank(element)
    clusters = [c for c in clusters if decided[c.unit_id] or c.unit_id in withdrawn]
    # Elements left to adjudication are unchanged; elements whose value was withdrawn become blank.
    values = {c.pk: current_tuple(c) | withdrawn[c.unit_id] | decided[c.unit_id] for c in clusters}
    targets = dict(
        Proposition.objects.current().filter(cluster__in=clusters, position=0).values_list("cluster", "text")
    )
    before = {c.pk: tuple_in_words(current_tuple(c)) for c in clusters}
    write_elements([(c, values[c.pk], targets.get(c.pk, "")) for c in clusters])
    for cluster in clusters:
        if before[cluster.pk] != (after := tuple_in_words(values[cluster.pk])):
            refresh_search(cluster)
            if before[cluster.pk] != NOTHING:
                _make_stale(cluster, by, reason, before[cluster.pk], after)


def _make_stale(cluster: Cluster, by: User | None, reason: str, before: str, after: str) -> None:
    """Mark labels and the relation as stale, because they were judged by the old tuple."""
    member = Member.objects.filter(project=cluster.project_id, user=by).first() if by else None
    if member:
        claims = Proposition.objects.current().filter(cluster=cluster).select_related("unit")
        staleness_actions.changed(
            units=[*(c.unit for c in claims), cluster.unit],
            what=KIND,
            reason=reason or "The tuple was changed.",
            by=member,
            before=before,
            after=after,
        )


#: A tuple without any value.
NOTHING = tuple_in_words({element: blank(element) for element in ELEMENTS})


Plain = serializers.Serializer[Any]


class TupleCardSerializer(Plain):
    """The target proposition, with the current tuple if there is one to confirm or correct."""

    text = serializers.CharField()
    cluster = serializers.CharField()
    current = CurrentElementSerializer(many=True, allow_null=True)


BLANK, GIVEN = "blank", "given"
STANDS_FOR = {Element.C.value: ("c_stands_for",)}
COMPARED: tuple[By, ...] = ("same", "words")
COMPARISONS = (
    *(
        Comparison(f"{element.upper()} slot", by, (element,), STANDS_FOR.get(element, ()) if by == "same" else ())
        for element in ELEMENTS
        for by in COMPARED
    ),
    Comparison("tuple", "whole", ELEMENTS, ("c_stands_for",)),
)


class TupleKind(clusters.ClusterKind):
    """The PICO tuple of a cluster's target proposition, one field per element."""

    key = "tuple"
    title = "Write the PICO tuple of a cluster"
    description = "Population, intervention, comparator and outcome of a target proposition."
    order = 120
    depends_on = ("target",)
    fields: Sequence[str] = ELEMENTS
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("several claims", "It makes several claims"),
        SkipReason("no claim", "It makes no claim about an intervention"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = TupleCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = TupleValueSerializer
    # Texts have no declared categories; the comparisons measure their agreement.
    scales: Sequence[Scale] = tuple(
        Scale(f"{element}: blank", (BLANK, GIVEN), element, blank_or_given=True) for element in ELEMENTS
    )
    comparisons: Sequence[Comparison] = COMPARISONS
    field_values = dict.fromkeys(ELEMENTS, ((BLANK, BLANK), (GIVEN, GIVEN)))
    columns: Sequence[str] = (*ELEMENTS, "c_stands_for")

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        return Batch(
            clusters.load(assignments), {"texts": self.texts([assignment.unit_id for assignment in assignments])}
        )

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the target text. The current tuple is included only if the round reviews it."""
        cluster: Cluster = batch.rows[assignment.unit_id]
        return {
            "text": batch.extra["texts"].get(assignment.unit_id, ""),
            "cluster": cluster.key,
            "current": clusters.elements(cluster) if round.shows_current_value else None,
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        """Check that marked pieces are in the target text, in order, and quoted exactly."""
        if tuple_elements.has_marks(value):
            claims = Proposition.objects.current().filter(cluster__unit=assignment.unit_id, position=0)
            tuple_elements.check_marks(claims.values_list("text", flat=True).get(), value, "value")

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        tuples = PicoTuple.objects.bulk_create(
            PicoTuple(unit_id=answer.assignment.unit_id, answer=answer) for answer, _ in answers
        )
        store([(row, value) for row, (_, value) in zip(tuples, answers, strict=True)])

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[PicoTuple]:
        blanks = TupleElement.objects.filter(pico_tuple=OuterRef("pk"), element=field, text="")
        return having(PicoTuple.objects.all(), keys, yes=BLANK, has=Exists(blanks))

    def value_key(self, field: str, value: Value) -> str:
        return GIVEN if value.get(field) and value[field]["text"] else BLANK

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        return units.filter(cluster__imported__isnull=False).exclude(pico_tuples__imported__isnull=False)

    def pre_decide(self, units: Sequence[Unit]) -> None:
        keep_imported(units)

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Rewrite what cards, search and releases read from the current tuple, and check findings again."""
        rewrite(units, by=by, reason=reason)
        findings.recheck([unit.pk for unit in units])

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = _with_elements(PicoTuple.objects.filter(answer__in=list(answers)))
        return {row.answer_id: _value(row) for row in rows}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = _with_elements(PicoTuple.objects.filter(unit__in=list(units), imported__in=list(imported)))
        return {(row.unit_id, row.imported_id or 0): _value(row) for row in rows}

    def migrate(self, value: Value, unit: Unit) -> Value:
        """Keep the texts and drop the marked pieces. Their positions are found again from the form."""
        return {element: value[element] | {"fragments": []} for element in ELEMENTS}

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        """Aggregate each element: the majority value, ignoring case and spaces."""
        return [_verdict(element, answers) for element in ELEMENTS]

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        """Compare elements, ignoring surrounding spaces.

        Only imported elements have such spaces. Marked positions are ignored if the other value has none, because the
        annotation page stores texts without marks.
        """
        here, there = ({**value[field], "text": value[field]["text"].strip()} for value in (one, other))
        return bool(here == there or (not there["fragments"] and here | {"fragments": []} == there))

    def is_correct(self, field: str, value: Value, expected: Value, round: Round) -> bool | None:
        return key_of(value[field]) == key_of(expected[field])

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return 0 for elements that are equal apart from case and spaces, otherwise 1 minus the F1 of their words."""
        return (
            0.0
            if key_of(one[field]) == key_of(other[field])
            else 1.0 - (word_f1(one[field]["text"], other[field]["text"]) or 0.0)
        )

    def row(self, value: Value) -> dict[str, str]:
        return {element: value[element]["text"] for element in ELEMENTS} | {"c_stands_for": value["c"]["stands_for"]}

    def sentence(self, field: str, value: Value) -> str:
        element = value[field]
        return element["text"] or element.get("stands_for") or "blank"


def _verdict(element: str, answers: Sequence[tuple[Answer, Value]]) -> AggregationResult:
    return majority(element, answers, lambda value: key_of(value[element]))[0]


def _with_elements(rows: QuerySet[PicoTuple]) -> QuerySet[PicoTuple]:
    return rows.prefetch_related("elements__fragments")


def _value(row: PicoTuple) -> Value:
    return tuple_elements.tuple_value(row.elements.all())
