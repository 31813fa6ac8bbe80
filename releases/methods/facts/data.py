"""Facts about searches, imported sources, and the corpus."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count

from annotation import imports
from annotation.clusters.figures import lacking_now
from annotation.corpus.statistics import summary
from annotation.flow.queries import Stage, stages
from annotation.imports.licences import redistribution_of
from annotation.models import Hit, Search
from projects.models import Change, Import, ImportState, Project
from projects.stored_figures.queries import stored


@dataclass(frozen=True)
class QueryFacts:
    """A PubMed search by a query. Counts are of its records."""

    query: str
    translation: str
    topic: str
    years: tuple[int | None, int | None]
    searched_on: date
    is_done: bool
    found: int | None
    retrieved: int
    known: int
    missing: int
    unfit: int
    waiting: int


@dataclass(frozen=True)
class SourceFacts:
    """An imported file, or a set of files."""

    file_name: str
    format: str
    sha256: str
    licence: str
    #: "allowed", "forbidden", or empty if unknown.
    redistribution: str
    imported_on: date
    has_texts: bool


@dataclass(frozen=True)
class CorpusFacts:
    """Counts of current rows. ``incomplete``: clusters that lack a label of a text, an input or a relation."""

    reviews: int
    studies: int
    documents: int
    sentences: int
    clusters: int
    propositions: int
    inputs: int
    questions: int
    passages: int
    written_summaries: int
    incomplete: int
    #: Texts that were corrected after they had been labelled.
    corrected_texts: int


@dataclass(frozen=True)
class DataFacts:
    """What the data set consists of, and where it comes from."""

    queries: tuple[QueryFacts, ...]
    #: Searches that fetched records of studies by their PubMed ids.
    studies_fetched: int
    sources: tuple[SourceFacts, ...]
    corpus: CorpusFacts
    flow: tuple[Stage, ...]


def data_facts(project: Project) -> DataFacts:
    """Return the facts. A fixed number of queries."""
    searches = Search.objects.filter(project=project)
    return DataFacts(
        queries=_queries(project),
        studies_fetched=searches.filter(query="", found__gt=0).count(),
        sources=_sources(project),
        corpus=_corpus(project),
        flow=tuple(stages(project)),
    )


def _queries(project: Project) -> tuple[QueryFacts, ...]:
    searches = Search.objects.filter(project=project).exclude(query="").order_by("pk")
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    hits = Hit.objects.filter(search__in=searches.order_by().values("pk")).order_by()
    for search, outcome, n in hits.values_list("search", "outcome").annotate(n=Count("pk")):
        counts[search][outcome] = n
    return tuple(_query(search, counts[search.pk]) for search in searches)


def _query(search: Search, hits: Mapping[str, int]) -> QueryFacts:
    return QueryFacts(
        query=search.query,
        translation=search.translation,
        topic=search.topic,
        years=(search.date_from.year if search.date_from else None, search.date_to.year if search.date_to else None),
        searched_on=search.created_at.date(),
        is_done=search.state == Search.State.DONE,
        found=search.found,
        retrieved=hits.get(Hit.Outcome.NEW, 0),
        known=hits.get(Hit.Outcome.KNOWN, 0),
        missing=hits.get(Hit.Outcome.MISSING, 0),
        unfit=hits.get(Hit.Outcome.UNFIT, 0),
        waiting=hits.get(Hit.Outcome.WAITING, 0),
    )


def _sources(project: Project) -> tuple[SourceFacts, ...]:
    formats = {format.key for format in imports.every()}
    rows = Import.objects.filter(project=project, state=ImportState.ARRIVED).order_by("pk").defer("report", "counts")
    return tuple(
        SourceFacts(
            file_name=row.file_name,
            format=row.format,
            sha256=row.sha256,
            licence=row.licence,
            redistribution=redistribution_of(row) or "",
            imported_on=row.created_at.date(),
            has_texts=row.format in formats,
        )
        for row in rows
    )


def _corpus(project: Project) -> CorpusFacts:
    known = stored(project, "corpus")
    counts: Mapping[str, Any] = known.figures if known.is_current else summary(project)
    names = [name for name in CorpusFacts.__dataclass_fields__ if name not in ("incomplete", "corrected_texts")]
    corrected = Change.objects.filter(unit__project=project, what=Change.TEXT).values("unit").distinct().count()
    # Documents have a review each, as their place in the corpus only.
    reviews = {"reviews": counts["reviews"] if counts["has_reviews"] else 0}
    return CorpusFacts(
        **{name: counts[name] for name in names} | reviews,
        incomplete=lacking_now(project)["incomplete"] if counts["clusters"] else 0,
        corrected_texts=corrected,
    )
