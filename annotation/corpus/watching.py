"""What of the corpus is witnessed (``audit.witness``), and the rule that the log says what was taken out of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q

from audit import rules
from audit.leaves import batches
from audit.models import Entry
from audit.witness import watch
from projects.models import Round, Unit

from ..models import (
    AssignedProposition,
    Cluster,
    Counterfactual,
    Cue,
    CueFragment,
    DiscourseLabel,
    EvidencePair,
    FullText,
    Input,
    Label,
    Match,
    MatchCandidate,
    MatchItem,
    PicoSlot,
    PicoTuple,
    Proposition,
    Review,
    Sentence,
    SplitCluster,
    Study,
    Target,
    TupleFragment,
    TupleSlot,
)

Rows = dict[Any, list[Any]]
#: What the log says of a target whose sentence is picked no more, or whose review left the data set; or is again.
REMOVE_TARGET, BRING_BACK_TARGET = "remove target", "bring back target"
#: And of an input proposition that was decided not to support its cluster, or to do so again.
TAKE_OUT_INPUT, BRING_BACK_INPUT = "put input aside", "bring back input"


def register() -> None:
    watch(Cluster, but=("search",), parts={"imported_tuple": imported_tuples})
    watch(Label, parts={"cues": cues})
    watch(PicoTuple, parts={"slots": tuple_slots})
    for model in (
        AssignedProposition, Counterfactual, DiscourseLabel, EvidencePair, Match, Proposition, SplitCluster,
        Study.reviews.through,
    ):  # fmt: skip
        watch(model)
    watch(Input, but=("is_current",), batch=100)
    for documents in (FullText, Review, Study, Target):
        watch(documents, batch=100)
    # What is laid out of a round that has not opened may still go.
    for laid_out, path in ((MatchItem, ""), (MatchCandidate, "item__")):
        watch(laid_out, when=~Q(**{f"{path}round__status": Round.Status.PREPARING}))
    # Those of studies, of which there may be millions, follow from abstracts that are watched.
    watch(Sentence, when=Q(review__isnull=False))
    rules.register(taken_out_unsaid)


def cues(labels: Sequence[Label]) -> list[Any]:
    """The cues of labels, each with its pieces."""
    found: Rows = defaultdict(list)
    pieces: Rows = defaultdict(list)
    fragments = CueFragment.objects.filter(cue__label__in=labels).order_by("cue_id", "position")
    for piece in fragments.values_list("cue", "position", "start", "end", "quote"):
        pieces[piece[0]].append(list(piece[1:]))
    rows = Cue.objects.filter(label__in=labels).order_by("label_id", "aspect")
    for label, pk, *cue in map(tuple, rows.values_list("label", "pk", "aspect", "text", "found", "occurrences")):
        found[label].append([*cue, pieces[pk]])
    return [found[label.pk] for label in labels]


def tuple_slots(tuples: Sequence[PicoTuple]) -> list[Any]:
    """The slots of tuples as they were given, each with its pieces."""
    found: Rows = defaultdict(list)
    pieces: Rows = defaultdict(list)
    fragments = TupleFragment.objects.filter(slot__pico_tuple__in=tuples).order_by("slot_id", "position")
    for piece in fragments.values_list("slot", "position", "start", "end", "quote"):
        pieces[piece[0]].append(list(piece[1:]))
    rows = TupleSlot.objects.filter(pico_tuple__in=tuples).order_by("pico_tuple_id", "slot")
    for given, pk, *slot in map(tuple, rows.values_list("pico_tuple", "pk", "slot", "text", "stands_for")):
        found[given].append([*slot, pieces[pk]])
    return [found[given.pk] for given in tuples]


def imported_tuples(clusters: Sequence[Cluster]) -> list[Any]:
    """What a file said of a cluster's tuple; None where no file brought it.

    It stands in the slots that cards and releases read until somebody decides otherwise, and then in a row of its own.
    The slots are read first: who decides in between has written that row before the slots change.
    """
    standing: Rows = defaultdict(list)
    for cluster, *slot in (
        PicoSlot.objects.filter(cluster__in=clusters)
        .order_by("cluster_id", "slot")
        .values_list("cluster", "slot", "text", "stands_for")
    ):
        standing[cluster].append(slot)
    kept: Rows = defaultdict(list)
    for unit, *slot in (
        TupleSlot.objects.filter(pico_tuple__unit__cluster__in=clusters, pico_tuple__imported__isnull=False)
        .order_by("pico_tuple_id", "slot")
        .values_list("pico_tuple__unit__cluster", "slot", "text", "stands_for")
    ):
        kept[unit].append(slot)
    return [(kept.get(c.pk) or standing[c.pk]) if c.imported_id else None for c in clusters]


def taken_out_unsaid() -> Iterator[tuple[str, str]]:
    """Units whose text gave way to another, or that left the corpus, without an entry that says so; and the reverse."""
    for units in batches(Unit.objects.filter(superseded_by__isnull=False).order_by("pk")):
        ids = [unit.pk for unit in units]
        said = {int(pk): after["unit"] for pk, after in _acts("unit", "supersede", ids)}
        clusters = dict(Cluster.objects.filter(unit__in=ids).values_list("unit", "pk"))
        clusters |= dict(Proposition.objects.filter(unit__in=ids).values_list("unit", "cluster"))
        removed = {int(pk) for pk, _ in _acts("cluster", "remove cluster", list(clusters.values()))}
        targets = dict(Target.objects.filter(unit__in=ids).values_list("unit", "pk"))
        taken_out = {int(pk) for pk, _ in _acts("target", REMOVE_TARGET, list(targets.values()))}
        claims = dict(Proposition.objects.filter(unit__in=ids).values_list("unit", "pk"))
        put_aside = {int(pk) for pk, _ in _acts("proposition", TAKE_OUT_INPUT, list(claims.values()))}
        for unit in units:
            if targets.get(unit.pk) in taken_out or claims.get(unit.pk) in put_aside:
                continue
            if said.get(unit.pk) != unit.superseded_by_id and clusters.get(unit.pk) not in removed:
                yield f"projects.unit {unit.pk}", "it was taken out of force, and the log does not say so"
    for entries in batches(Entry.objects.filter(object_type="unit", verb="supersede").order_by("pk")):
        given = {int(e.object_id): e.after["unit"] for e in entries if e.after}
        now = dict(Unit.objects.filter(pk__in=given).values_list("pk", "superseded_by"))
        for pk, by in given.items():
            if pk in now and now[pk] is None:
                yield f"projects.unit {pk}", f"its text gave way to that of unit {by}, and it is in force again"


def _acts(type: str, verb: str, ids: Sequence[int]) -> list[tuple[str, Any]]:
    acts = Entry.objects.filter(object_type=type, verb=verb, object_id__in=[str(pk) for pk in ids])
    return list(acts.values_list("object_id", "after"))
