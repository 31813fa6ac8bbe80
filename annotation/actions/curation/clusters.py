"""Clusters and input propositions, typed or pasted by rows, with whatever was said of them as answers of its kind."""

import uuid as uuids
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

from api.problems import Conflict, Refused
from audit.log import record
from projects.actions import rolling
from projects.actions.corrections import Correction, correct_all
from projects.models import Member, Unit
from sql.ready import Rows

from ...corpus.items import SLOTS, Item, Source
from ...corpus.layout import Layout
from ...corpus.made import make_clusters, make_inputs
from ...kinds.clusters import inputs_changed
from ...models import Cluster, Level, Proposition, Review, Target

Row = Mapping[str, Any]


def add_clusters(*, review: Review, rows: Sequence[Row], by: Member, batch: uuids.UUID) -> list[Cluster]:
    """Clusters after the last one, each with its target, its inputs, and the tuple, labels and relation given with it.

    Rows: ``text, sentence, tuple, label, relation, inputs[{pmid, text, label}]`` as the serializer has them. In the
    caller's transaction, all or none. Raises `Refused` by row and field.
    """
    sentences = _sentences(review, rows)
    clusters, claims = make_clusters(
        review.project, [(review, _item(review, row), sentences.get(row["sentence"] or 0)) for row in rows], by=by.user
    )
    record(
        actor=by.user, verb="add clusters", obj=review, project_id=review.project_id,
        after={"clusters": [c.key for c in clusters], "inputs": sum(len(row["inputs"]) for row in rows)},
    )  # fmt: skip
    _say(list(_cells(clusters, claims, rows)), review, by, batch)
    rolling.due(Q(project=review.project_id))
    return clusters


def add_inputs(
    *, cluster: Cluster, rows: Sequence[Row], reason: str, by: Member, batch: uuids.UUID
) -> list[Proposition]:
    """Input propositions after the last one of a cluster. Rows: ``pmid, text, label``. All or none.

    A relation that was judged without them becomes stale. In the caller's transaction. `Conflict` for a cluster that
    was taken out.
    """
    if cluster.unit.superseded_by_id:
        raise Conflict("The cluster was taken out; nothing is added to it any more.")
    review = cluster.review
    layout = Layout(cluster.project, Rows(), by=by.user)
    studies = layout.studies(review, [row["pmid"] for row in rows])
    layout.rows.write()
    claims = make_inputs([(cluster, studies[row["pmid"]], row["text"]) for row in rows], by=by.user)
    inputs_changed(cluster, by, reason or "An input was added.")
    rolling.due(Q(project=cluster.project_id))
    record(
        actor=by.user, verb="add inputs", obj=cluster, project_id=cluster.project_id,
        after={"positions": [claim.position for claim in claims], "studies": [row["pmid"] for row in rows]},
    )  # fmt: skip
    cells = [
        (f"rows.{n}.label", Correction(claim.unit, "label", row["label"]))
        for n, (claim, row) in enumerate(zip(claims, rows, strict=True))
        if row["label"]
    ]
    _say(cells, review, by, batch)
    return claims


def _item(review: Review, row: Row) -> Item:
    pico = tuple(row["tuple"][slot]["text"] if row["tuple"] else "" for slot in SLOTS)
    inputs = tuple(Source(i["pmid"], i["text"]) for i in row["inputs"])
    return Item("", review.pmid, row["text"], inputs, pico=pico)


def _sentences(review: Review, rows: Sequence[Row]) -> dict[int, Target]:
    wanted = {row["sentence"] for row in rows if row["sentence"]}
    there = Target.objects.current().filter(review=review, level=Level.SENTENCE, pk__in=wanted)
    found = {t.pk: t for t in there} if wanted else {}
    errors = [
        {"field": f"rows.{n}.sentence", "message": "This is no target sentence of the review."}
        for n, row in enumerate(rows)
        if row["sentence"] and row["sentence"] not in found
    ]
    if errors:
        raise Refused(errors[0]["message"], errors=errors)
    return found


Cells = Iterable[tuple[str, Correction]]


def _cells(clusters: Sequence[Cluster], claims: Sequence[Proposition], rows: Sequence[Row]) -> Cells:
    """What was said in the rows, with the place of each in the request."""
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


def _say(cells: Sequence[tuple[str, Correction]], review: Review, by: Member, batch: uuids.UUID) -> None:
    """Write the values as every correction is written; faults are named by their place in the request."""
    try:
        correct_all([c for _, c in cells], project=review.project, reason="", by=by, batch=batch, path="{n}:")
    except Refused as refused:
        raise Refused(
            refused.detail, errors=[e | {"field": _placed(e["field"], cells)} for e in refused.errors]
        ) from None


def _placed(field: str, cells: Sequence[tuple[str, Correction]]) -> str:
    number, _, rest = field.partition(":")
    place = cells[int(number)][0]
    inside = "" if place.endswith(".relation") else rest.removeprefix("value").removeprefix(".")
    return f"{place}.{inside}" if inside else place
