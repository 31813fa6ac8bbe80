"""Integrity tracking of the corpus (``audit.row_digests``), and the check that the audit log explains every removal."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q

from audit import rules
from audit.models import Entry
from audit.registry import batches
from audit.row_digests import track
from projects.models import Round, Unit

from ..models import (
    AskedPassage,
    AssignedProposition,
    Cluster,
    Counterfactual,
    Cue,
    CueFragment,
    DiscourseLabel,
    EffectPair,
    EvidencePair,
    FullText,
    Inclusion,
    Input,
    Label,
    MachineReading,
    Match,
    MatchCandidate,
    MatchItem,
    Passage,
    PicoElement,
    PicoTuple,
    Proposition,
    PublishedFile,
    Question,
    QuestionText,
    Review,
    Sentence,
    SplitCluster,
    Study,
    Target,
    TupleElement,
    TupleFragment,
    WrittenSummary,
)

Rows = dict[Any, list[Any]]
#: Audit verbs for removing a target (its sentence is no longer selected, or its review is excluded) and restoring it.
REMOVE_TARGET, BRING_BACK_TARGET = "remove target", "bring back target"
#: Audit verbs for removing an input proposition that does not support its cluster, and for restoring it.
TAKE_OUT_INPUT, BRING_BACK_INPUT = "put input aside", "bring back input"


def register() -> None:
    track(Cluster, but=("search",), parts={"imported_tuple": imported_tuples})
    track(Label, parts={"cues": cues})
    track(PicoTuple, parts={"slots": tuple_elements})
    for model in (AssignedProposition, Counterfactual, DiscourseLabel, EvidencePair, Match, Proposition, SplitCluster):
        track(model)
    for of_questions in (Question, Passage):
        track(of_questions)
    track(Inclusion, label="annotation.study_reviews")
    track(Input, but=("is_current",), batch=100)
    # Effects are not tracked, because there may be millions. Their readings are.
    track(EffectPair)
    track(QuestionText, but=("is_current",), batch=100)
    for document_model in (FullText, MachineReading, PublishedFile, Review, Study, Target, WrittenSummary):
        track(document_model, batch=100)
    # Items of a round that has not opened can still be deleted.
    for tracked, path in ((AskedPassage, ""), (MatchItem, ""), (MatchCandidate, "item__")):
        track(tracked, when=~Q(**{f"{path}round__status": Round.Status.PREPARING}))
    # Sentences of studies are not tracked: there may be millions, and they derive from abstracts that are tracked.
    track(Sentence, when=Q(review__isnull=False))
    rules.register(unexplained_supersessions)


def cues(labels: Sequence[Label]) -> list[Any]:
    """Return the cues of each label with their fragments."""
    by_label: Rows = defaultdict(list)
    pieces: Rows = defaultdict(list)
    fragments = CueFragment.objects.filter(cue__label__in=labels).order_by("cue_id", "position")
    for piece in fragments.values_list("cue", "position", "start", "end", "quote"):
        pieces[piece[0]].append(list(piece[1:]))
    rows = Cue.objects.filter(label__in=labels).order_by("label_id", "aspect")
    for label, pk, *cue in map(tuple, rows.values_list("label", "pk", "aspect", "text", "found", "occurrences")):
        by_label[label].append([*cue, pieces[pk]])
    return [by_label[label.pk] for label in labels]


def tuple_elements(tuples: Sequence[PicoTuple]) -> list[Any]:
    """Return the elements of each PICO tuple as entered, with their fragments."""
    by_tuple: Rows = defaultdict(list)
    pieces: Rows = defaultdict(list)
    fragments = TupleFragment.objects.filter(element__pico_tuple__in=tuples).order_by("element_id", "position")
    for piece in fragments.values_list("element", "position", "start", "end", "quote"):
        pieces[piece[0]].append(list(piece[1:]))
    rows = TupleElement.objects.filter(pico_tuple__in=tuples).order_by("pico_tuple_id", "element")
    for tuple_id, pk, *element in map(tuple, rows.values_list("pico_tuple", "pk", "element", "text", "stands_for")):
        by_tuple[tuple_id].append([*element, pieces[pk]])
    return [by_tuple[tuple_id.pk] for tuple_id in tuples]


def imported_tuples(clusters: Sequence[Cluster]) -> list[Any]:
    """Return the imported PICO tuple of each cluster, or None if the cluster was not imported.

    The imported tuple is stored in the cluster's PICO elements until a decision changes it, and then in a row of its
    own. The elements are read first: a concurrent decision writes that row before it changes the elements.
    """
    elements: Rows = defaultdict(list)
    for cluster, *element in (
        PicoElement.objects.filter(cluster__in=clusters)
        .order_by("cluster_id", "element")
        .values_list("cluster", "element", "text", "stands_for")
    ):
        elements[cluster].append(element)
    stored: Rows = defaultdict(list)
    for unit, *element in (
        TupleElement.objects.filter(pico_tuple__unit__cluster__in=clusters, pico_tuple__imported__isnull=False)
        .order_by("pico_tuple_id", "element")
        .values_list("pico_tuple__unit__cluster", "element", "text", "stands_for")
    ):
        stored[unit].append(element)
    return [(stored.get(c.pk) or elements[c.pk]) if c.imported_id else None for c in clusters]


def unexplained_supersessions() -> Iterator[tuple[str, str]]:
    """Yield units that were superseded without an audit entry, and units that are current although an entry says they
    are superseded."""
    for units in batches(Unit.objects.filter(superseded_by__isnull=False).order_by("pk")):
        ids = [unit.pk for unit in units]
        logged = {int(pk): after["unit"] for pk, after in _entries("unit", "supersede", ids)}
        clusters = dict(Cluster.objects.filter(unit__in=ids).values_list("unit", "pk"))
        clusters |= dict(Proposition.objects.filter(unit__in=ids).values_list("unit", "cluster"))
        removed = {int(pk) for pk, _ in _entries("cluster", "remove cluster", list(clusters.values()))}
        targets = dict(Target.objects.filter(unit__in=ids).values_list("unit", "pk"))
        taken_out = {int(pk) for pk, _ in _entries("target", REMOVE_TARGET, list(targets.values()))}
        claims = dict(Proposition.objects.filter(unit__in=ids).values_list("unit", "pk"))
        put_aside = {int(pk) for pk, _ in _entries("proposition", TAKE_OUT_INPUT, list(claims.values()))}
        for unit in units:
            if targets.get(unit.pk) in taken_out or claims.get(unit.pk) in put_aside:
                continue
            if logged.get(unit.pk) != unit.superseded_by_id and clusters.get(unit.pk) not in removed:
                yield f"projects.unit {unit.pk}", "it was superseded, but the audit log has no entry for this"
    for entries in batches(Entry.objects.filter(object_type="unit", verb="supersede").order_by("pk")):
        logged_successors = {int(e.object_id): e.after["unit"] for e in entries if e.after}
        successors = dict(Unit.objects.filter(pk__in=logged_successors).values_list("pk", "superseded_by"))
        for pk, by in logged_successors.items():
            if pk in successors and successors[pk] is None:
                yield f"projects.unit {pk}", f"the audit log says that unit {by} superseded it, but it is current"


def _entries(type: str, verb: str, ids: Sequence[int]) -> list[tuple[str, Any]]:
    entries = Entry.objects.filter(object_type=type, verb=verb, object_id__in=[str(pk) for pk in ids])
    return list(entries.values_list("object_id", "after"))
