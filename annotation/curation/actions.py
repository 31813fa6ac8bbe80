"""Add and remove clusters, input propositions, reviews and target sentences on the curation page.

Values entered with new rows are stored as corrections.
"""

import uuid as uuids
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q

from api.problems import Conflict, Refused
from audit.log import REMOVE, record, record_all
from projects.curation.actions import Correction, correct_all
from projects.jobs.arriving import ensure_none_arrives
from projects.models import Assignment, Decision, Member, Project, Unit
from projects.purposes import which
from projects.stored_figures.actions import content_changed, enqueue_figures
from sql.bulk import BulkWriter

from ..clusters.creation import Layout, NewTarget, make_clusters, make_inputs, next_position, retire
from ..clusters.items import ELEMENTS, Item, Source
from ..clusters.sentences import split
from ..consistency import findings
from ..kinds.clusters import inputs_changed
from ..models import Cluster, Level, Proposition, Review, Target

Row = Mapping[str, Any]


def add_clusters(*, review: Review, rows: Sequence[Row], by: Member, batch: uuids.UUID) -> list[Cluster]:
    """Add clusters after the last one of the project, each with the target, inputs, PICO tuple, labels and relation of
    its row.

    Rows have the shape of the serializer: ``text, sentence, tuple, label, relation, inputs[{pmid, text, label}]``. Must
    run in a transaction. Raise `Refused` with row and field.
    """
    sentences = _sentences(review, rows)
    clusters, claims = make_clusters(
        review.project, [(review, _item(review, row), sentences.get(row["sentence"] or 0)) for row in rows], by=by.user
    )
    record(
        actor=by.user,
        verb="add clusters",
        obj=review,
        project_id=review.project_id,
        after={"clusters": [c.key for c in clusters], "inputs": sum(len(row["inputs"]) for row in rows)},
    )
    _store_values(list(_cells(clusters, claims, rows)), review, by, batch)
    content_changed(Q(pk=review.project_id))
    return clusters


def add_inputs(
    *, cluster: Cluster, rows: Sequence[Row], reason: str, by: Member, batch: uuids.UUID
) -> list[Proposition]:
    """Add input propositions after the last one of a cluster.

    Rows: ``pmid, text, label``. An existing relation becomes stale. Must run in a transaction. Raise `Conflict` if the
    cluster was retired.
    """
    if cluster.unit.superseded_by_id:
        raise Conflict("This cluster was removed, so no inputs can be added. Reload the page.")
    review = cluster.review
    layout = Layout(cluster.project, BulkWriter(), by=by.user)
    studies = layout.studies(review, [row["pmid"] for row in rows])
    layout.rows.write()
    claims = make_inputs([(cluster, studies[row["pmid"]], row["text"]) for row in rows], by=by.user)
    inputs_changed(cluster, by, reason or "An input was added.")
    content_changed(Q(pk=cluster.project_id))
    record(
        actor=by.user,
        verb="add inputs",
        obj=cluster,
        project_id=cluster.project_id,
        after={"positions": [claim.position for claim in claims], "studies": [row["pmid"] for row in rows]},
    )
    cells = [
        (f"rows.{n}.label", Correction(claim.unit, "label", row["label"]))
        for n, (claim, row) in enumerate(zip(claims, rows, strict=True))
        if row["label"]
    ]
    _store_values(cells, review, by, batch)
    return claims


def _item(review: Review, row: Row) -> Item:
    pico = tuple(row["tuple"][element]["text"] if row["tuple"] else "" for element in ELEMENTS)
    inputs = tuple(Source(i["pmid"], i["text"]) for i in row["inputs"])
    return Item("", review.pmid, row["text"], inputs, pico=pico)


def _sentences(review: Review, rows: Sequence[Row]) -> dict[int, Target]:
    ids = {row["sentence"] for row in rows if row["sentence"]}
    targets = Target.objects.current().filter(review=review, level=Level.SENTENCE, pk__in=ids)
    by_id = {t.pk: t for t in targets} if ids else {}
    errors = [
        {"field": f"rows.{n}.sentence", "message": "This is not a current target sentence of the review."}
        for n, row in enumerate(rows)
        if row["sentence"] and row["sentence"] not in by_id
    ]
    if errors:
        raise Refused(errors[0]["message"], errors=errors)
    return by_id


Cells = Iterable[tuple[str, Correction]]


def _cells(clusters: Sequence[Cluster], claims: Sequence[Proposition], rows: Sequence[Row]) -> Cells:
    """Yield the values entered in the rows, each with its path in the request."""
    units = Unit.objects.select_related("proposition").in_bulk([p.unit_id for p in claims])
    rest = iter([units[p.unit_id] for p in claims])
    for n, (cluster, row) in enumerate(zip(clusters, rows, strict=True)):
        if row["tuple"]:
            yield f"rows.{n}.tuple", Correction(cluster.unit, "tuple", row["tuple"])
        for place, label in [("", row["label"]), *((f"inputs.{m}.", i["label"]) for m, i in enumerate(row["inputs"]))]:
            unit = next(rest)
            if label:
                yield f"rows.{n}.{place}label", Correction(unit, "label", label)
        if row["relation"]:
            yield f"rows.{n}.relation", Correction(cluster.unit, "discourse", {"relation": row["relation"]})


def _store_values(cells: Sequence[tuple[str, Correction]], review: Review, by: Member, batch: uuids.UUID) -> None:
    """Store the values as corrections. Validation errors name the path in the request."""
    try:
        correct_all([c for _, c in cells], project=review.project, reason="", by=by, batch=batch, path="{n}:")
    except Refused as refused:
        raise Refused(
            refused.detail, errors=[e | {"field": _path_of(e["field"], cells)} for e in refused.errors]
        ) from None


def _path_of(field: str, cells: Sequence[tuple[str, Correction]]) -> str:
    number, _, rest = field.partition(":")
    place = cells[int(number)][0]
    inside = "" if place.endswith(".relation") else rest.removeprefix("value").removeprefix(".")
    return f"{place}.{inside}" if inside else place


def remove_input(*, proposition: Proposition, reason: str, by: Member) -> None:
    """Delete an uncorrected input that has no assignment and no decision.

    Raise `Conflict` otherwise: its text can be corrected instead.
    """
    _require_reason(reason)
    unit, cluster = proposition.unit, proposition.cluster
    if proposition.is_target:
        raise Conflict("The target of a cluster cannot be removed. Remove the cluster, or correct the target's text.")
    is_used = Decision.objects.filter(unit=unit).exists() or Assignment.objects.filter(unit=unit).exists()
    if is_used or proposition.version > 1 or unit.superseded_by_id:
        raise Conflict("This text has a decision or is in a round, so it cannot be removed. Correct its text instead.")
    with transaction.atomic():
        before = {"study": proposition.study and proposition.study.pmid, "text": proposition.text, "unit": unit.key}
        record_all(
            {"actor": by.user, "verb": REMOVE, "obj": removed, "project_id": cluster.project_id, "reason": reason}
            for removed in (proposition, unit)
        )
        proposition.delete()
        unit.delete()
        inputs_changed(cluster, by, reason)
        record(
            actor=by.user, verb="remove input", obj=cluster, project_id=cluster.project_id, reason=reason, before=before
        )
        enqueue_figures(Q(pk=cluster.project_id))


def remove_cluster(*, cluster: Cluster, reason: str, by: Member) -> None:
    """Retire a cluster that is in no round.

    It is excluded everywhere; manual decisions remain on record. Raise `Conflict` if people were assigned to it.
    """
    _require_reason(reason)
    if cluster.unit.superseded_by_id:
        raise Conflict("This cluster was already removed. Reload the page.")
    units = Unit.objects.filter(proposition__cluster=cluster) | Unit.objects.filter(pk=cluster.unit_id)
    ids = list(units.values_list("pk", flat=True))
    assigned = Assignment.objects.filter(unit__in=ids).exclude(round__purpose__in=which("holds_edits"))
    if assigned.exists():
        raise Conflict("This cluster is in a round, so it cannot be removed. Correct its values instead.")
    with transaction.atomic():
        retire([cluster], by=by.user, reason=reason)
        findings.recheck([cluster.unit_id])
        enqueue_figures(Q(pk=cluster.project_id))


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise Refused.field("reason", "Give a reason for the removal.")


def add_review(
    *, project: Project, pmid: str, title: str, abstract: str, sentences: Sequence[Mapping[str, Any]], by: Member
) -> Review:
    """Add a review with its target sentences, if any.

    Must run in a transaction. Raise `Refused` if the review exists.
    """
    ensure_none_arrives(project.pk)
    if Review.objects.filter(project=project, pmid=pmid).exists():
        raise Refused.field("pmid", f"The project already has review {pmid}.")
    unit = Unit.objects.create(project=project, type="review", key=pmid, made_by=by.user)
    review = Review.objects.create(project=project, pmid=pmid, title=title, abstract=abstract, unit=unit)
    split([review])
    record(actor=by.user, verb="add review", obj=review, project_id=project.pk, after={"pmid": pmid, "title": title})
    if sentences:
        add_sentences(review=review, rows=sentences, by=by)
    content_changed(Q(pk=project.pk))
    return review


def add_sentences(*, review: Review, rows: Sequence[Mapping[str, Any]], by: Member) -> list[NewTarget]:
    """Add target sentences after the last one of the review. Rows: ``text, inputs[{pmid, text}]``."""
    keys = Target.objects.filter(review=review, level=Level.SENTENCE).values_list("key", flat=True)
    number = max((int(n) for key in keys if (n := key.rpartition("_")[2]).isdecimal()), default=-1) + 1
    items = [
        Item(
            f"{review.pmid}_{number + n}",
            review.pmid,
            row["text"],
            tuple(Source(i["pmid"], i["text"]) for i in row["inputs"]),
        )
        for n, row in enumerate(rows)
    ]
    first = next_position(Target.objects.filter(project=review.project_id, level=Level.SENTENCE))
    layout = Layout(review.project, BulkWriter(), by=by.user)
    targets = layout.targets(Level.SENTENCE, items, first)
    layout.rows.write()
    record(
        actor=by.user,
        verb="add sentences",
        obj=review,
        project_id=review.project_id,
        after={"sentences": [t.key for t in targets]},
    )
    enqueue_figures(Q(pk=review.project_id))
    return targets
