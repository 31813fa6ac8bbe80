"""Create corpus rows from items, with all texts verbatim.

Rows are prepared before the transaction that writes them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db.models import Max, QuerySet

from accounts.models import User
from audit.log import record_all
from projects.jobs.arriving import ensure_none_arrives
from projects.models import Import, ImportState, Project, Unit
from sql.bulk import BulkWriter, ids_by_text
from sql.expressions import fold_case

from ..models import (
    Cluster,
    Inclusion,
    Input,
    Level,
    PicoElement,
    PicoFragment,
    Proposition,
    Review,
    Role,
    Study,
    Target,
)
from . import inclusions
from .items import ELEMENTS, Item, TextLabels
from .pico import form_of

Claims = list[tuple[Proposition, TextLabels | None]]
UNIT_TYPES = {Level.DOCUMENT: "target document", Level.SENTENCE: "target sentence"}


def next_position(rows: QuerySet[Cluster] | QuerySet[Target]) -> int:
    last: int | None = rows.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


class NewTarget(NamedTuple):
    """A target that will be written."""

    pk: int
    unit_id: int
    key: str


class Layout:
    """Prepare the rows of items.

    Missing reviews and studies are created. Writing fails if another request creates the same reviews or studies in the
    meantime. ``by`` is the user who entered the items.
    """

    def __init__(
        self, project: Project, rows: BulkWriter, *, imported: Import | None = None, by: User | None = None
    ) -> None:
        if imported is None:
            ensure_none_arrives(project.pk)
        self.project, self.rows, self.imported, self.by = project, rows, imported, by
        #: Ids by PMID.
        self._reviews: dict[str, int] = {}
        #: Units of new reviews, by PMID.
        self.review_units: dict[str, int] = {}
        self._studies: dict[str, int] = {}
        #: Ids of the studies that existed before.
        self._known_studies: list[int] = []
        self._links: set[inclusions.Pair] = set()
        self._general: dict[inclusions.Pair, int] = {}
        #: Next position of a study, by review id.
        self._positions: dict[int, int] = {}
        self._source = {"project_id": project.pk, "imported_id": imported.pk if imported else None}

    def clusters(
        self, items: Sequence[Item], first: int
    ) -> tuple[list[Cluster], list[tuple[Proposition, TextLabels | None]]]:
        """Prepare clusters with their PICO tuples and propositions, starting at position ``first``.

        Return the clusters, and each proposition with its labels.
        """
        self.reviews(items)
        units = self._units("cluster", [item.key for item in items])
        clusters = self.rows.add(
            Cluster(
                project=self.project,
                review_id=self._reviews[item.review],
                key=item.key,
                position=first + n,
                imported=self.imported,
                unit_id=unit,
                search=fold_case(item.key, item.text, *item.pico, *(t for s in item.inputs for t in (s.pmid, s.text))),
            )
            for n, (item, unit) in enumerate(zip(items, units, strict=True))
        )
        self._add_pico(clusters, items)
        return clusters, self._propositions(clusters, items)

    def targets(self, level: Level, items: Sequence[Item], first: int) -> list[NewTarget]:
        """Prepare document or sentence targets with their inputs, starting at position ``first``."""
        self.reviews(items)
        units = self._units(UNIT_TYPES[level], [item.key for item in items])
        targets = self.rows.add_columns(
            Target,
            len(items),
            review_id=[self._reviews[item.review] for item in items],
            level=str(level),
            key=[item.key for item in items],
            position=[first + n for n in range(len(items))],
            text=[item.text for item in items],
            unit_id=units,
            **self._source,
        )
        sources = [source for item in items for source in item.inputs]
        studies = [self._studies[source.pmid] for source in sources]
        abstracts = self._known_abstracts() if level == Level.DOCUMENT else {}
        self.rows.add_columns(
            Input,
            len(sources),
            target_id=[target for target, item in zip(targets, items, strict=True) for _ in item.inputs],
            study_id=studies,
            position=[n for item in items for n in range(1, len(item.inputs) + 1)],
            # The abstract of the study is not stored twice (`Input.with_source_text`).
            text=[
                "" if source.text == abstracts.get(study) else source.text
                for source, study in zip(sources, studies, strict=True)
            ],
        )
        return list(map(NewTarget, targets, units, (item.key for item in items)))

    def _known_abstracts(self) -> dict[int, str]:
        """Return the abstracts of the studies that existed before, by id."""
        rows = Study.with_arriving.filter(pk__in=self._known_studies).exclude(abstract="").order_by()
        return dict(rows.values_list("pk", "abstract")) if self._known_studies else {}

    def studies(self, review: Review, pmids: Iterable[str]) -> dict[str, int]:
        """Return the ids of studies of an existing review by PMID. Missing studies and links are created."""
        self._know({review.pmid: review.pk})
        ids = list(pmids)
        self._make_studies([(pmid, review.pmid) for pmid in ids])
        return {pmid: self._studies[pmid] for pmid in ids}

    def _units(self, type: str, keys: list[str], **columns: Any) -> list[int]:
        made_by = self.by.pk if self.by else None
        return self.rows.add_columns(
            Unit, len(keys), type=type, key=keys, made_by_id=made_by, **self._source, **columns
        )

    def reviews(self, items: Sequence[Item]) -> dict[str, int]:
        """Load or create the reviews and studies of the items, and link them. Return the reviews by PMID."""
        pmids = [pmid for pmid in dict.fromkeys(item.review for item in items) if pmid not in self._reviews]
        self._know(self._ids(Review, pmids))
        missing = [pmid for pmid in pmids if pmid not in self._reviews]
        units = self._units("review", missing)
        self.review_units |= zip(missing, units, strict=True)
        columns = self.review_columns(missing, items)
        reviews = self.rows.add_columns(Review, len(missing), pmid=missing, unit_id=units, **columns, **self._source)
        self._reviews |= zip(missing, reviews, strict=True)
        self._make_studies([(source.pmid, item.review) for item in items for source in item.inputs])
        return self._reviews

    def review_columns(self, missing: Sequence[str], items: Sequence[Item]) -> dict[str, Any]:
        """Return the columns of new reviews beside their ids, in this order."""
        abstracts = {item.review: item.abstract for item in items}
        return {"abstract": [abstracts.get(pmid, "") for pmid in missing]}

    def study_columns(self, missing: Sequence[str]) -> dict[str, Any]:
        """Return the columns of new studies beside their ids, in this order."""
        return {}

    def _ids(self, model: type[Review] | type[Study], pmids: Sequence[str]) -> dict[str, int]:
        """Return the ids of existing rows by PMID."""
        return ids_by_text(model, "pmid", pmids, project_id=self.project.pk)

    def _know(self, reviews: dict[str, int]) -> None:
        """Register existing reviews and their links to studies."""
        self._reviews |= reviews
        links = Inclusion.with_arriving.filter(review__in=list(reviews.values())).order_by()
        rows = links.values_list("pk", "study_id", "review_id", "role", "position") if reviews else ()
        for pk, study, review, role, position in rows:
            if role == Role.GENERAL:
                self._general[study, review] = pk
            self._links.add((study, review))
            self._positions[review] = max(position + 1, self._positions.get(review, 0))

    def _make_studies(self, links: Sequence[tuple[str, str]]) -> None:
        """Load or create studies and their links. ``links`` holds (study PMID, review PMID)."""
        pmids = [pmid for pmid in dict.fromkeys(pmid for pmid, _ in links) if pmid not in self._studies]
        known = self._ids(Study, pmids)
        self._known_studies += known.values()
        self._studies |= known
        new = [pmid for pmid in pmids if pmid not in self._studies]
        columns = self.study_columns(new)
        ids = self.rows.add_columns(Study, len(new), pmid=new, **columns, **self._source)
        self._studies |= zip(new, ids, strict=True)
        pairs = dict.fromkeys((self._studies[study], self._reviews[review]) for study, review in links)
        fresh = [pair for pair in pairs if pair not in self._links]
        inclusions.add(self.rows, fresh, self._positions, imported=self.imported)
        self._links.update(fresh)
        # A study whose text becomes an input is no longer a general reference only. An import changes this when it has
        # arrived (`inclusions.general_inputs_of`).
        if self.imported and self.imported.state == ImportState.ARRIVING:
            return
        if general := [self._general.pop(pair) for pair in pairs if pair in self._general]:
            by = self.imported.created_by if self.imported else self.by
            self.rows.then(partial(inclusions.set_role, general, Role.INCLUDED, by=by, project=self.project.pk))

    def _add_pico(self, clusters: Sequence[Cluster], items: Sequence[Item]) -> None:
        elements, ranges_of_elements = [], []
        for cluster, item in zip(clusters, items, strict=True):
            for element, text in zip(ELEMENTS, item.pico, strict=True):
                form, ranges = form_of(text, item.text)
                elements.append(PicoElement(cluster=cluster, element=element, form=form, text=text))
                ranges_of_elements.append(ranges)
        self.rows.add(elements)
        self.rows.add(
            PicoFragment(element=element, position=n, start=start, end=end)
            for element, ranges in zip(elements, ranges_of_elements, strict=True)
            for n, (start, end) in enumerate(ranges)
        )

    def _propositions(self, clusters: Sequence[Cluster], items: Sequence[Item]) -> Claims:
        """Prepare the target (position 0) and the inputs (from 1) of each cluster.

        Their units have the cluster's unit as context.
        """
        claims = []
        for cluster, item in zip(clusters, items, strict=True):
            inputs = ((s.text, s.labels, self._studies[s.pmid]) for s in item.inputs)
            claims += [
                (cluster, position, *claim) for position, claim in enumerate([(item.text, item.labels, None), *inputs])
            ]
        units = self._units(
            "proposition",
            [f"{cluster.key}/{position}" for cluster, position, *_ in claims],
            context=[cluster.unit_id for cluster, *_ in claims],
            position=[position for _, position, *_ in claims],
        )
        propositions = self.rows.add(
            Proposition(cluster_id=cluster.pk, position=position, study_id=study, text=text, unit_id=unit)
            for (cluster, position, text, _, study), unit in zip(claims, units, strict=True)
        )
        return [(p, labels) for p, (_, _, _, labels, _) in zip(propositions, claims, strict=True)]


#: A cluster to create: its review, its texts (the key is assigned later), and its target sentence if known.
New = tuple[Review, Item, Target | None]


def make_clusters(project: Project, new: Sequence[New], *, by: User | None) -> tuple[list[Cluster], list[Proposition]]:
    """Create clusters after the last one of the project, each with its target and inputs, in this order.

    Must run in a transaction. The number of statements does not depend on the number of clusters.
    """
    numbers = _next_numbers(project, {review for review, _, _ in new})
    items = []
    for review, item, _ in new:
        items.append(item._replace(key=f"{review.pmid}_{numbers[review.pmid]}"))
        numbers[review.pmid] += 1
    layout = Layout(project, BulkWriter(), by=by)
    clusters, claims = layout.clusters(items, next_position(Cluster.objects.filter(project=project)))
    layout.rows.write()
    for cluster, (_, _, sentence) in zip(clusters, new, strict=True):
        cluster.sentence = sentence
    Cluster.objects.bulk_update([c for c in clusters if c.sentence], ["sentence"])
    return clusters, [claim for claim, _ in claims]


def _next_numbers(project: Project, reviews: set[Review]) -> dict[str, int]:
    """Return the next free cluster number of each review, by PMID.

    Retired clusters count, because keys are never reused.
    """
    numbers: dict[str, int] = defaultdict(int)
    keys = Cluster.objects.filter(project=project, review__in=reviews).values_list("review__pmid", "key")
    for pmid, key in keys:
        start, _, number = key.rpartition("_")
        if start == pmid and number.isdecimal():
            numbers[pmid] = max(numbers[pmid], int(number) + 1)
    return numbers


def make_inputs(new: Sequence[tuple[Cluster, int, str]], *, by: User | None) -> list[Proposition]:
    """Create input propositions after the last one of their cluster, in this order. ``new``: cluster, study id, text.

    Must run in a transaction. The number of statements does not depend on the number of inputs.
    """
    last = Proposition.objects.filter(cluster__in={cluster for cluster, _, _ in new}).order_by()
    positions: dict[int, int] = defaultdict(int, last.values_list("cluster").annotate(last=Max("position")))
    places = []
    for cluster, _, _ in new:
        positions[cluster.pk] += 1
        places.append(positions[cluster.pk])
    units = Unit.objects.bulk_create(
        Unit(
            project_id=cluster.project_id,
            type="proposition",
            key=f"{cluster.key}/{position}",
            context=cluster.unit_id,
            position=position,
            made_by=by,
        )
        for position, (cluster, _, _) in zip(places, new, strict=True)
    )
    return Proposition.objects.bulk_create(
        Proposition(cluster=cluster, position=position, study_id=study, text=text, unit=unit)
        for position, (cluster, study, text), unit in zip(places, new, units, strict=True)
    )


def retire(clusters: Sequence[Cluster], *, by: User | None, reason: str) -> None:
    """Retire clusters: exclude them and their texts everywhere, but keep all records about them.

    Their units are superseded by the unit of the review, except texts that were already superseded. Select ``review``
    with the clusters. Must run in a transaction.
    """
    for cluster in clusters:
        mine = Unit.objects.filter(proposition__cluster=cluster) | Unit.objects.filter(pk=cluster.unit_id)
        ids = list(mine.values_list("pk", flat=True))
        Unit.objects.filter(pk__in=ids, superseded_by=None).update(superseded_by=cluster.review.unit_id)
    record_all(
        {
            "actor": by,
            "verb": "remove cluster",
            "obj": cluster,
            "project_id": cluster.project_id,
            "reason": reason,
            "before": {"key": cluster.key},
        }
        for cluster in clusters
    )
