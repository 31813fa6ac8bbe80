"""The origin of every released unit in W3C PROV terms, ``provenance/prov.jsonld``.

Entities are units, answers, decisions, readings and summaries; activities are imports, rounds, corrections and runs;
agents are people by pseudonym and systems. It quotes no text: texts and the values of answers are in other files.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from generation.latest_runs import published_runs
from generation.models import Summary
from projects.models import Guideline, Import, ImportState, Project, Round
from releases.formats.rows import BATCH, utc_time

from ..folders import chain
from ..folders.chain import Node, iri
from ..sources import lineage, origins
from ..sources.blinding import kept_blind, released_answers, released_units
from .notes import Notes

#: Number of units whose steps are in memory.
UNITS = 1000


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if released_units(project).exists():
        yield chain.PATH, chain.document(project.slug, _nodes(project, has_reasons=notes.has_texts))


def _nodes(project: Project, *, has_reasons: bool) -> Iterator[Node]:
    runs = published_runs(project)
    yield from _sources(project)
    yield from _guidelines(project)
    yield from _rounds(project)
    for run in runs:
        yield {
            "@id": iri("system", run.version.hash),
            "@type": ["prov:Agent", "prov:SoftwareAgent"],
            "concord:system": run.version.system.name,
            "concord:version": run.version.number,
        }
        yield _activity("run", run.pk, run.created_at, run.finished_at) | {
            "prov:wasAssociatedWith": iri("system", run.version.hash)
        }
    summaries = Summary.objects.filter(item__run__in=[run.pk for run in runs])
    scope = origins.Scope(released_answers(project), summaries, raters=True)
    measured, people = origins.measured_fields(), dict[str, None]()
    ids = released_units(project).order_by("pk").values_list("pk", flat=True).iterator(chunk_size=BATCH)
    while batch := list(islice(ids, UNITS)):
        subjects = lineage.subjects(project, batch)
        steps = origins.steps(project, subjects, scope)
        for pk, subject in subjects.items():
            yield chain.subject_node(subject)
            for step in chain.ordered(steps[pk]):
                people.update(dict.fromkeys(filter(None, (step.by, step.rater))))
                yield chain.step_node(chain.releasable(step, measured, has_reasons=has_reasons))
    yield from map(chain.person, people)


def _sources(project: Project) -> Iterator[Node]:
    rows = Import.objects.filter(project=project, state=ImportState.ARRIVED).order_by("pk")
    for i in rows.defer("report", "counts", "progress").prefetch_related("files").iterator(chunk_size=BATCH):
        files = [{"concord:file": file.name, "concord:sha256": file.sha256} for file in i.files.all()]
        yield {
            "@id": iri("source", i.pk),
            "@type": "prov:Entity",
            "concord:file": i.file_name,
            "concord:format": i.format,
            "concord:sha256": i.sha256,
        } | ({"concord:files": files} if len(files) > 1 else {})
    for search in project.searches.exclude(query="").order_by("pk").iterator(chunk_size=BATCH):
        yield {"@id": iri("search", search.pk), "@type": "prov:Entity", "concord:query": search.query}


def _guidelines(project: Project) -> Iterator[Node]:
    for guideline in Guideline.objects.filter(project=project).order_by("kind", "number").iterator():
        yield {
            "@id": iri("guideline", f"{guideline.kind}-{guideline.number}"),
            "@type": ["prov:Entity", "prov:Plan"],
            "concord:sha256": guideline.digest,
        }


def _rounds(project: Project) -> Iterator[Node]:
    rounds = Round.objects.filter(project=project).opened().counting().exclude(pk__in=kept_blind(project))
    for round in rounds.select_related("guideline").order_by("pk").iterator(chunk_size=BATCH):
        guideline = iri("guideline", f"{round.kind}-{round.guideline.number}")
        yield _activity("round", round.name, round.opened_at, round.closed_at) | {"prov:used": guideline}


def _activity(type: str, name: object, start: datetime, end: datetime | None) -> Node:
    node: Node = {"@id": iri(type, name), "@type": "prov:Activity", "prov:startedAtTime": utc_time(start)}
    return node | ({"prov:endedAtTime": utc_time(end)} if end else {})
