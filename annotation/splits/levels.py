"""The units of each level with the PubMed ids and texts that they consist of, read in batches."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from measures.splits.units import SplitItem
from projects.models import Project
from sql.batches import in_batches

from ..clusters.gold import current_labels, current_relations
from ..formats.mslr import rows as mslr_rows
from ..formats.mslr.published import kept_of
from ..models import (
    Cluster,
    ColumnValues,
    DataSplit,
    Inclusion,
    Input,
    Level,
    Part,
    Proposition,
    Question,
    QuestionText,
    Review,
    SplitLevel,
    SplitUnit,
    Target,
)
from ..pubmed.records import data_set_reviews


@dataclass
class Row:
    """A unit of a level. ``column_topic`` and ``given`` are the topic and the part that imported data state."""

    unit: int
    key: str
    review: str
    review_unit: int
    title: str = ""
    topic: str = ""
    column_topic: str = ""
    given: str = ""
    size: int = 0
    pmids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    strata: dict[str, str] = field(default_factory=dict)

    @property
    def item(self) -> SplitItem:
        return SplitItem(self.key, self.review, self.pmids, self.texts)


class UnitLevel:
    """A level. Stateless."""

    level: SplitLevel
    #: Plural noun for the units.
    name: str
    #: Strata that it can have besides topic and size.
    strata: Sequence[str] = ()
    batch = 200
    #: Field that has the key of a unit.
    key_field = "key"

    def all(self, project: Project) -> QuerySet[Any]:
        """Return the rows of the level in corpus order."""
        raise NotImplementedError

    def read(self, batch: Sequence[Any]) -> list[Row]:
        """Return units with what they consist of. A fixed number of queries."""
        raise NotImplementedError

    def rows(self, project: Project) -> Iterator[Row]:
        for batch in in_batches(self.all(project), self.batch):
            rows = self.read(batch)
            _add_columns(rows)
            yield from rows


def _of_review(unit: int, key: str, review: Review) -> Row:
    given = str(kept_of(review).get("split", "")) if mslr_rows.FORMAT in review.metadata else ""
    return Row(unit, key, review.pmid, review.unit_id, review.title, review.topic, given=given, pmids=[review.pmid])


def _add_columns(rows: Sequence[Row]) -> None:
    """Add the topic and the part that an imported table states for the units or their reviews."""
    units = {row.unit for row in rows} | {row.review_unit for row in rows}
    found = ColumnValues.objects.filter(unit__in=units, position=0).order_by("pk")
    details = {unit: values for unit, values in found.values_list("unit", "details") if values}
    for row in rows:
        for values in (details.get(row.review_unit, {}), details.get(row.unit, {})):
            row.column_topic = values.get("topic", "") or row.column_topic
            row.given = values.get("split", "") or row.given


class PropositionLevel(UnitLevel):
    level, name = SplitLevel.PROPOSITION, "clusters"
    strata = ("relation", "polarity")

    def all(self, project: Project) -> QuerySet[Any]:
        clusters = Cluster.objects.current().filter(project=project).select_related("review")
        return clusters.defer("search", "review__abstract").order_by("position", "pk")

    def read(self, batch: Sequence[Cluster]) -> list[Row]:
        rows = {one.pk: _of_review(one.unit_id, one.key, one.review) for one in batch}
        targets: dict[int, int] = {}
        texts = Proposition.objects.current().filter(cluster__in=rows).order_by("cluster", "position")
        columns = ("cluster", "unit", "study__pmid", "text")
        for cluster, unit, pmid, text in texts.values_list(*columns):
            row = rows[cluster]
            row.texts.append(text)
            if pmid is None:
                targets[unit] = cluster
            else:
                row.size += 1
                row.pmids.append(pmid)
        polarities = current_labels("polarity").filter(unit__in=targets).order_by()
        for unit, polarity in polarities.values_list("unit", "polarity"):
            rows[targets[unit]].strata["polarity"] = polarity
        relations = current_relations().filter(unit__in=[one.unit_id for one in batch]).order_by()
        found = dict(relations.values_list("unit", "relation"))
        for row in rows.values():
            row.strata["relation"] = found.get(row.unit, "")
        return list(rows.values())


class _TargetLevel(UnitLevel):
    of: Level

    def all(self, project: Project) -> QuerySet[Any]:
        targets = Target.objects.current().filter(project=project, level=self.of).select_related("review")
        return targets.defer("review__abstract").order_by("position", "pk")

    def read(self, batch: Sequence[Target]) -> list[Row]:
        rows = {one.pk: _of_review(one.unit_id, one.key, one.review) for one in batch}
        for one in batch:
            rows[one.pk].texts.append(one.text)
        inputs = Input.objects.current().filter(target__in=rows).with_source_text()
        columns = ("target", "study__pmid", "source_text")
        for target, pmid, text in inputs.order_by("target", "position").values_list(*columns):
            row = rows[target]
            row.size += 1
            row.pmids.append(pmid)
            row.texts.append(text)
        return list(rows.values())


class SentenceLevel(_TargetLevel):
    level, name, of = SplitLevel.SENTENCE, "target sentences", Level.SENTENCE


class DocumentLevel(_TargetLevel):
    """Documents. Studies that their reviews include without an abstract count, too."""

    level, name, of = SplitLevel.DOCUMENT, "documents", Level.DOCUMENT
    batch = 50

    def read(self, batch: Sequence[Target]) -> list[Row]:
        rows = super().read(batch)
        included = _included([one.review_id for one in batch])
        for row, one in zip(rows, batch, strict=True):
            row.pmids += included[one.review_id]
        return rows


def _included(reviews: Sequence[int]) -> dict[int, list[str]]:
    """Return the PubMed ids of the studies that reviews include."""
    pmids: dict[int, list[str]] = defaultdict(list)
    for review, pmid in (
        Inclusion.objects.included().filter(review__in=reviews).order_by().values_list("review", "study__pmid")
    ):
        pmids[review].append(pmid)
    return pmids


class ReviewLevel(UnitLevel):
    """Reviews of the data set, with the studies and texts of all levels."""

    level, name, batch, key_field = SplitLevel.REVIEW, "reviews", 50, "pmid"

    def all(self, project: Project) -> QuerySet[Any]:
        return data_set_reviews(project).order_by("pk")

    def read(self, batch: Sequence[Review]) -> list[Row]:
        rows = {one.pk: _of_review(one.unit_id, one.pmid, one) for one in batch}
        included = Inclusion.objects.included().filter(review__in=rows).order_by("review", "position")
        for review, pmid, abstract in included.values_list("review", "study__pmid", "study__abstract"):
            rows[review].size += 1
            rows[review].pmids.append(pmid)
            rows[review].texts.append(abstract)
        targets = Target.objects.current().filter(review__in=rows).order_by()
        inputs = Input.objects.current().filter(target__in=targets.values("pk")).exclude(text="").order_by()
        claims = Proposition.objects.current().filter(cluster__review__in=rows, cluster__unit__superseded_by=None)
        for one in batch:
            rows[one.pk].texts.append(one.abstract)
        for review, text in targets.values_list("review", "text"):
            rows[review].texts.append(text)
        for found, path in ((inputs, "target__review"), (claims.order_by(), "cluster__review")):
            for review, pmid, text in found.values_list(path, "study__pmid", "text"):
                rows[review].pmids.append(pmid or "")
                rows[review].texts.append(text)
        return list(rows.values())


class QuestionLevel(UnitLevel):
    """Questions with their passages and pages."""

    level, name = SplitLevel.QUESTION, "questions"

    def all(self, project: Project) -> QuerySet[Any]:
        return Question.objects.filter(project=project).order_by("position", "pk")

    def read(self, batch: Sequence[Question]) -> list[Row]:
        rows = {one.pk: Row(one.unit_id, one.key, one.key, one.unit_id) for one in batch}
        texts = QuestionText.objects.current().filter(question__in=rows).exclude(part=Part.URL)
        columns = ("question", "passage", "part", "text")
        passages: dict[int, set[int]] = defaultdict(set)
        for question, passage, part, text in texts.order_by("question", "passage", "part").values_list(*columns):
            rows[question].texts.append(text)
            if part == Part.QUESTION:
                rows[question].title = text
            elif passage is not None:
                passages[question].add(passage)
        for question, row in rows.items():
            row.size = len(passages[question])
        return list(rows.values())


LEVELS: dict[str, UnitLevel] = {
    level.level: level
    for level in (PropositionLevel(), SentenceLevel(), DocumentLevel(), ReviewLevel(), QuestionLevel())
}


def counts(project: Project) -> dict[str, int]:
    """Return the number of units of each level that the project has."""
    found = {level: of.all(project).count() for level, of in LEVELS.items()}
    return {level: count for level, count in found.items() if count}


def count_outside(split: DataSplit) -> int:
    """Return the number of current units of the level that are in no part of a split. One query."""
    level = LEVELS[split.level]
    inside = SplitUnit.objects.filter(split=split).order_by().values("key")
    return level.all(split.project).exclude(**{f"{level.key_field}__in": inside}).count()
