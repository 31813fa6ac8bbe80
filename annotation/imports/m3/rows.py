"""Items of M3 as rows: everything verbatim, in few statements, in the caller's transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from django.db.models import Max, QuerySet

from accounts.models import User
from annotation.gold import LABEL_FIELDS
from annotation.models import (
    Cluster,
    Cue,
    CueFragment,
    DiscourseLabel,
    Input,
    Label,
    Level,
    PicoFragment,
    PicoSlot,
    Proposition,
    Review,
    Study,
    Target,
)
from annotation.pico import form_of
from annotation.search import folded
from measures import spans
from projects.actions.decisions import insert_decisions
from projects.models import Decision, Import, Origin, Project, Unit

from ..reading import Progress
from .records import SLOTS, Item, Said

#: How many items become rows at a time, so that memory does not grow with the file.
BATCH = 500
LEVELS = {"1": Level.DOCUMENT, "2": Level.SENTENCE}
UNIT_TYPES = {"1": "target document", "2": "target sentence", "3": "cluster"}


def insert_clusters(imported: Import, items: Sequence[Item], progress: Progress) -> None:
    """Level 3: clusters with their tuples, propositions, labels, cues, relations and imported decisions."""
    first = next_position(Cluster.objects.filter(project=imported.project))
    for start, batch in _batches(items):
        clusters, propositions = lay_out(imported.project, batch, first=first + start, imported=imported)
        _insert_labels(imported, [(p, said) for p, said in propositions if said])
        DiscourseLabel.objects.bulk_create(
            DiscourseLabel(unit_id=cluster.unit_id, imported=imported, relation=item.relation)
            for item, cluster in zip(batch, clusters, strict=True)
        )
        insert_decisions(
            [
                *(_adopt(imported, p.unit_id, "label", field) for p, _ in propositions for field in LABEL_FIELDS),
                *(_adopt(imported, cluster.unit_id, "discourse", "relation") for cluster in clusters),
            ]
        )
        progress(start + len(batch), len(items), "writing")


def lay_out(
    project: Project, batch: Sequence[Item], *, first: int, imported: Import | None = None, by: User | None = None
) -> tuple[list[Cluster], list[tuple[Proposition, Said | None]]]:
    """Clusters with their tuples and propositions, from position ``first`` on; reviews and studies where they are new.

    What was said of them is handed back beside each proposition, not written. ``by``: who typed them in.
    """
    reviews, studies = _reviews_and_studies(project, batch, by)
    units = _units(project, "cluster", batch, by)
    clusters = Cluster.objects.bulk_create(
        Cluster(
            project=project,
            review=reviews[item.review],
            key=item.docid,
            position=first + n,
            imported=imported,
            unit=unit,
            search=folded(item.docid, item.text, *item.pico, *(t for s in item.inputs for t in (s.pmid, s.text))),
        )
        for n, (item, unit) in enumerate(zip(batch, units, strict=True))
    )
    _insert_pico(clusters, batch)
    return clusters, _insert_propositions(project, clusters, batch, studies, by)


def insert_targets(imported: Import, level: str, items: Sequence[Item], progress: Progress) -> None:
    """Levels 1 and 2: targets and their inputs."""
    first = next_position(Target.objects.filter(project=imported.project, level=LEVELS[level]))
    for start, batch in _batches(items):
        lay_out_targets(imported.project, level, batch, first=first + start, imported=imported)
        progress(start + len(batch), len(items), "writing")


def lay_out_targets(
    project: Project,
    level: str,
    batch: Sequence[Item],
    *,
    first: int,
    imported: Import | None = None,
    by: User | None = None,
) -> list[Target]:
    """Targets of level 1 or 2 with their inputs, from position ``first`` on. ``by``: who typed them in."""
    reviews, studies = _reviews_and_studies(project, batch, by)
    units = _units(project, UNIT_TYPES[level], batch, by)
    targets = Target.objects.bulk_create(
        Target(
            project=project,
            review=reviews[item.review],
            level=LEVELS[level],
            key=item.docid,
            position=first + n,
            text=item.text,
            imported=imported,
            unit=unit,
        )
        for n, (item, unit) in enumerate(zip(batch, units, strict=True))
    )
    Input.objects.bulk_create(
        Input(target=target, study=studies[source.pmid], position=n, text=source.text)
        for target, item in zip(targets, batch, strict=True)
        for n, source in enumerate(item.inputs, start=1)
    )
    return targets


def _batches(items: Sequence[Item]) -> Iterator[tuple[int, list[Item]]]:
    rest, start = iter(items), 0
    while batch := list(islice(rest, BATCH)):
        yield start, batch
        start += len(batch)


def next_position(rows: QuerySet[Cluster] | QuerySet[Target]) -> int:
    last: int | None = rows.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def _units(project: Project, type: str, batch: Sequence[Item], by: User | None) -> list[Unit]:
    return Unit.objects.bulk_create(Unit(project=project, type=type, key=item.docid, made_by=by) for item in batch)


def _reviews_and_studies(
    project: Project, batch: Sequence[Item], by: User | None
) -> tuple[dict[str, Review], dict[str, Study]]:
    """The reviews and studies of a batch by PMID, made where they are new, with the links between them."""
    wanted = dict.fromkeys(item.review for item in batch)
    reviews = {r.pmid: r for r in Review.objects.filter(project=project, pmid__in=wanted)}
    missing = [pmid for pmid in wanted if pmid not in reviews]
    units = Unit.objects.bulk_create(Unit(project=project, type="review", key=pmid, made_by=by) for pmid in missing)
    made = Review.objects.bulk_create(
        Review(project=project, pmid=pmid, unit=unit) for pmid, unit in zip(missing, units, strict=True)
    )
    reviews |= {r.pmid: r for r in made}

    links = [(s.pmid, item.review) for item in batch for s in item.inputs]
    return reviews, studies_of(project, links, reviews)


def studies_of(project: Project, links: Sequence[tuple[str, str]], reviews: Mapping[str, Review]) -> dict[str, Study]:
    """Studies by PMID, made where they are new, and linked: ``links`` are (study's PMID, review's PMID)."""
    pmids = dict.fromkeys(pmid for pmid, _ in links)
    studies: dict[str, Study] = {}
    for chunk in _chunks(list(pmids), 500):
        studies |= {s.pmid: s for s in Study.objects.filter(project=project, pmid__in=chunk)}
    new = Study.objects.bulk_create(Study(project=project, pmid=pmid) for pmid in pmids if pmid not in studies)
    studies |= {s.pmid: s for s in new}

    link = Study.reviews.through
    pairs = dict.fromkeys((studies[study].pk, reviews[review].pk) for study, review in links)
    there = set(link.objects.filter(review__in=list(reviews.values())).values_list("study_id", "review_id"))
    link.objects.bulk_create(link(study_id=s, review_id=r) for s, r in pairs if (s, r) not in there)
    return studies


def _chunks(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (values[n : n + size] for n in range(0, len(values), size))


def _insert_pico(clusters: Sequence[Cluster], batch: Sequence[Item]) -> None:
    slots, places = [], []
    for cluster, item in zip(clusters, batch, strict=True):
        for slot, text in zip(SLOTS, item.pico, strict=True):
            form, ranges = form_of(text, item.text)
            slots.append(PicoSlot(cluster=cluster, slot=slot, form=form, text=text))
            places.append(ranges)
    PicoFragment.objects.bulk_create(
        PicoFragment(slot=slot, position=n, start=start, end=end)
        for slot, ranges in zip(PicoSlot.objects.bulk_create(slots), places, strict=True)
        for n, (start, end) in enumerate(ranges)
    )


def _insert_propositions(
    project: Project, clusters: Sequence[Cluster], batch: Sequence[Item], studies: Mapping[str, Study], by: User | None
) -> list[tuple[Proposition, Said | None]]:
    """Target (position 0) and inputs (from 1) of each cluster; a cluster's units come together by their context."""
    claims = []
    for cluster, item in zip(clusters, batch, strict=True):
        texts = [(item.text, item.said, None), *((s.text, s.said, studies[s.pmid].pk) for s in item.inputs)]
        claims += [(cluster, position, *claim) for position, claim in enumerate(texts)]
    units = Unit.objects.bulk_create(
        Unit(
            project_id=project.pk,
            type="proposition",
            key=f"{cluster.key}/{position}",
            context=cluster.unit_id,
            position=position,
            made_by=by,
        )
        for cluster, position, *_ in claims
    )
    propositions = Proposition.objects.bulk_create(
        Proposition(cluster_id=cluster.pk, position=position, study_id=study, text=text, unit_id=unit.pk)
        for (cluster, position, text, _, study), unit in zip(claims, units, strict=True)
    )
    return [(p, said) for p, (_, _, _, said, _) in zip(propositions, claims, strict=True)]


def _insert_labels(imported: Import, propositions: Sequence[tuple[Proposition, Said]]) -> None:
    labels = Label.objects.bulk_create(
        Label(unit_id=p.unit_id, imported_id=imported.pk, polarity=said.polarity, modality=said.modality)
        for p, said in propositions
    )
    cues, fragments = [], []
    for label, (proposition, said) in zip(labels, propositions, strict=True):
        for aspect, text in ((Cue.Aspect.POLARITY, said.polarity_cue), (Cue.Aspect.MODALITY, said.modality_cue)):
            if not text:
                continue
            found = spans.locate(proposition.text, text)
            cue = Cue(label=label, aspect=aspect, text=text, found=found.status, occurrences=found.occurrences)
            cues.append(cue)
            fragments += [
                CueFragment(cue=cue, position=n, start=start, end=end, quote=proposition.text[start:end])
                for n, (start, end) in enumerate(found.ranges)
            ]
    Cue.objects.bulk_create(cues)
    CueFragment.objects.bulk_create(_with_parents(fragments))


def _with_parents(fragments: Iterable[CueFragment]) -> Iterator[CueFragment]:
    """The fragments, with the id that their cue got when it was inserted."""
    for fragment in fragments:
        fragment.cue_id = fragment.cue.pk
        yield fragment


def _adopt(imported: Import, unit: int, kind: str, field: str) -> Decision:
    """What an import says is in force. "No cue" is a value too, so each field gets its decision."""
    return Decision(
        unit_id=unit,
        kind=kind,
        field=field,
        origin=Origin.IMPORTED,
        imported_id=imported.pk,
        decided_at=imported.created_at,
    )
