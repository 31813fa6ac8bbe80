"""A corpus as rows: everything verbatim, made ready before the transaction that writes them."""

from collections.abc import Iterable, Sequence

from django.db.models import Max, QuerySet

from accounts.models import User
from projects.models import Import, Project, Unit
from sql.ready import Rows
from sql.search import folded

from ..models import Cluster, Input, Level, PicoFragment, PicoSlot, Proposition, Review, Study, Target
from .items import SLOTS, Item, Said
from .pico import form_of

Claims = list[tuple[Proposition, Said | None]]
UNIT_TYPES = {Level.DOCUMENT: "target document", Level.SENTENCE: "target sentence"}


def next_position(rows: QuerySet[Cluster] | QuerySet[Target]) -> int:
    last: int | None = rows.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


class Layout:
    """Items laid out as rows that are still to be written. Reviews and studies are made where the project has none: who
    writes the same ones meanwhile makes the writing fail. ``by``: who typed the items in."""

    def __init__(
        self, project: Project, rows: Rows, *, imported: Import | None = None, by: User | None = None
    ) -> None:  # fmt: skip
        self.project, self.rows, self.imported, self.by = project, rows, imported, by
        self._reviews: dict[str, Review] = {}
        self._studies: dict[str, Study] = {}
        self._links: set[tuple[int, int]] = set()

    def clusters(
        self, items: Sequence[Item], first: int
    ) -> tuple[list[Cluster], list[tuple[Proposition, Said | None]]]:
        """Clusters with their tuples and propositions, from position ``first`` on. What was said of them is handed back
        beside each proposition."""
        self._make_reviews(items)
        units = self._units("cluster", items)
        clusters = self.rows.add(
            Cluster(
                project=self.project,
                review=self._reviews[item.review],
                key=item.key,
                position=first + n,
                imported=self.imported,
                unit=unit,
                search=folded(item.key, item.text, *item.pico, *(t for s in item.inputs for t in (s.pmid, s.text))),
            )
            for n, (item, unit) in enumerate(zip(items, units, strict=True))
        )
        self._add_pico(clusters, items)
        return clusters, self._propositions(clusters, items)

    def targets(self, level: Level, items: Sequence[Item], first: int) -> list[Target]:
        """Targets that are documents or sentences, with their inputs, from position ``first`` on."""
        self._make_reviews(items)
        units = self._units(UNIT_TYPES[level], items)
        targets = self.rows.add(
            Target(
                project=self.project,
                review=self._reviews[item.review],
                level=level,
                key=item.key,
                position=first + n,
                text=item.text,
                imported=self.imported,
                unit=unit,
            )
            for n, (item, unit) in enumerate(zip(items, units, strict=True))
        )
        self.rows.add(
            Input(target=target, study=self._studies[source.pmid], position=n, text=source.text)
            for target, item in zip(targets, items, strict=True)
            for n, source in enumerate(item.inputs, start=1)
        )
        return targets

    def studies(self, review: Review, pmids: Iterable[str]) -> dict[str, Study]:
        """Studies by PMID, made where they are new, and linked to a review that the project has."""
        self._know(review)
        wanted = list(pmids)
        self._make_studies([(pmid, review.pmid) for pmid in wanted])
        return {pmid: self._studies[pmid] for pmid in wanted}

    def _units(self, type: str, items: Sequence[Item]) -> list[Unit]:
        return self.rows.add(Unit(project=self.project, type=type, key=item.key, made_by=self.by) for item in items)

    def _make_reviews(self, items: Sequence[Item]) -> None:
        """The reviews and studies of some items, with the links between them."""
        wanted = [pmid for pmid in dict.fromkeys(item.review for item in items) if pmid not in self._reviews]
        self._know(*Review.objects.filter(project=self.project, pmid__in=wanted))
        missing = [pmid for pmid in wanted if pmid not in self._reviews]
        units = self.rows.add(
            Unit(project=self.project, type="review", key=pmid, made_by=self.by) for pmid in missing
        )  # fmt: skip
        made = self.rows.add(
            Review(project=self.project, pmid=pmid, unit=unit) for pmid, unit in zip(missing, units, strict=True)
        )
        self._reviews |= {review.pmid: review for review in made}
        self._make_studies([(source.pmid, item.review) for item in items for source in item.inputs])

    def _know(self, *reviews: Review) -> None:
        """Reviews that are there, with their links."""
        self._reviews |= {review.pmid: review for review in reviews}
        links = Study.reviews.through.objects.filter(review__in=[review.pk for review in reviews])
        self._links.update(links.values_list("study_id", "review_id"))

    def _make_studies(self, links: Sequence[tuple[str, str]]) -> None:
        """Studies and their links, where they are new: (study's PMID, review's PMID)."""
        wanted = [pmid for pmid in dict.fromkeys(pmid for pmid, _ in links) if pmid not in self._studies]
        for start in range(0, len(wanted), 500):
            found = Study.objects.filter(project=self.project, pmid__in=wanted[start : start + 500])
            self._studies |= {study.pmid: study for study in found}
        new = self.rows.add(Study(project=self.project, pmid=pmid) for pmid in wanted if pmid not in self._studies)
        self._studies |= {study.pmid: study for study in new}
        pairs = dict.fromkeys((self._studies[study].pk, self._reviews[review].pk) for study, review in links)
        fresh = [pair for pair in pairs if pair not in self._links]
        link = Study.reviews.through
        self.rows.add(link(study_id=study, review_id=review) for study, review in fresh)
        self._links.update(fresh)

    def _add_pico(self, clusters: Sequence[Cluster], items: Sequence[Item]) -> None:
        slots, places = [], []
        for cluster, item in zip(clusters, items, strict=True):
            for slot, text in zip(SLOTS, item.pico, strict=True):
                form, ranges = form_of(text, item.text)
                slots.append(PicoSlot(cluster=cluster, slot=slot, form=form, text=text))
                places.append(ranges)
        self.rows.add(slots)
        self.rows.add(
            PicoFragment(slot=slot, position=n, start=start, end=end)
            for slot, ranges in zip(slots, places, strict=True)
            for n, (start, end) in enumerate(ranges)
        )

    def _propositions(self, clusters: Sequence[Cluster], items: Sequence[Item]) -> Claims:
        """Target (position 0) and inputs (from 1) of each cluster; a cluster's units come together by their context."""
        claims = []
        for cluster, item in zip(clusters, items, strict=True):
            inputs = ((s.text, s.said, self._studies[s.pmid].pk) for s in item.inputs)
            claims += [
                (cluster, position, *claim) for position, claim in enumerate([(item.text, item.said, None), *inputs])
            ]  # fmt: skip
        units = self.rows.add(
            Unit(
                project_id=self.project.pk,
                type="proposition",
                key=f"{cluster.key}/{position}",
                context=cluster.unit_id,
                position=position,
                made_by=self.by,
            )
            for cluster, position, *_ in claims
        )
        propositions = self.rows.add(
            Proposition(cluster_id=cluster.pk, position=position, study_id=study, text=text, unit_id=unit.pk)
            for (cluster, position, text, _, study), unit in zip(claims, units, strict=True)
        )
        return [(p, said) for p, (_, _, _, said, _) in zip(propositions, claims, strict=True)]
