"""The units of an evidence round: each target with each study of its review, those of one study together."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from measures import sampling
from projects.models import Round, Unit

from ...corpus.sentences import split, unsplit
from ...models import EvidencePair, Level, Study, Target

PAIR = "target and study"
#: Project, study and key of the target.
Place = tuple[int, int, str]
ROWS = 2000
#: The order that a round has that does not follow the corpus.
SHUFFLED = "shuffled"


def units_of(round: Round, units: Sequence[int]) -> list[tuple[int, int]]:
    """The (unit, context) ids of the pairs of these target sentences (unit ids), made where there are none yet. The
    context is the study: whoever reads it is asked of all its targets."""
    by_study = _asked(_in_order(units))
    split(unsplit(Study.objects.filter(pk__in=list(by_study))))
    studies = list(by_study)
    if round.sampling.get("order") == SHUFFLED:
        studies = sampling.shuffled(studies, round.seed)
    pairs = [(study, target) for study in studies for target in by_study[study]]
    there = _there(pairs)
    there |= _made(round, [pair for pair in pairs if _place(*pair) not in there])
    return [(there[_place(study, target)], study) for study, target in pairs]


def first_of(units: Iterable[int]) -> dict[int, EvidencePair]:
    """A pair of each of these target sentences (unit ids), by unit id, that nobody stores: for a round that is being
    planned. One without a study whose abstract is known has a study that says nothing."""
    targets = list(Target.objects.filter(unit__in=list(units)).select_related("unit", "review"))
    first: dict[int, int] = {}
    for study, asked in _asked(targets).items():
        for target in asked:
            first.setdefault(target.pk, study)
    studies = Study.objects.in_bulk(first.values())
    return {
        t.unit_id: EvidencePair(unit=t.unit, target=t, study=studies.get(first.get(t.pk, 0)) or Study())
        for t in targets
    }  # fmt: skip


def pairs_of(targets: Iterable[Target]) -> dict[int, list[EvidencePair]]:
    """The pairs of targets that were laid out, with units and studies, by the id of the target whose text is in force.
    One query."""
    by_key = {(target.project_id, target.key): target.pk for target in targets if target.level == Level.SENTENCE}
    rows = EvidencePair.objects.filter(
        target__project__in={project for project, _ in by_key}, target__key__in={key for _, key in by_key}
    )
    found: dict[int, list[EvidencePair]] = defaultdict(list)
    for pair in rows.select_related("unit", "study", "target").order_by("study__pmid", "pk"):
        if (place := (pair.target.project_id, pair.target.key)) in by_key:
            found[by_key[place]].append(pair)
    return found


def _in_order(units: Sequence[int]) -> list[Target]:
    found = {target.unit_id: target for target in Target.objects.filter(unit__in=units)}
    return [found[unit] for unit in units if unit in found]


def _asked(targets: Sequence[Target]) -> dict[int, list[Target]]:
    """By study those of these targets that it may support; studies without an abstract are left out."""
    links = Study.reviews.through.objects.filter(review__in={t.review_id for t in targets}).exclude(study__abstract="")
    of_review: dict[int, list[int]] = defaultdict(list)
    for review, study in links.order_by("review_id", "study_id").values_list("review_id", "study_id"):
        of_review[review].append(study)
    by_study: dict[int, list[Target]] = defaultdict(list)
    for target in targets:
        for study in of_review[target.review_id]:
            by_study[study].append(target)
    return by_study


def _place(study: int, target: Target) -> Place:
    """By which a pair is the same whatever the text of its target is now."""
    return target.project_id, study, target.key


def _there(pairs: Sequence[tuple[int, Target]]) -> dict[Place, int]:
    rows = EvidencePair.objects.filter(
        study__in={study for study, _ in pairs}, target__key__in={target.key for _, target in pairs}
    ).order_by()
    columns = ("target__project", "study", "target__key", "unit")
    return {(project, study, key): unit for project, study, key, unit in rows.values_list(*columns)}


def _made(round: Round, pairs: Sequence[tuple[int, Target]]) -> Mapping[Place, int]:
    pmids = dict(Study.objects.filter(pk__in={study for study, _ in pairs}).values_list("pk", "pmid"))
    units = Unit.objects.bulk_create(
        (
            Unit(
                project_id=round.project_id, type=PAIR, key=f"{target.key} {pmids[study]}", context=study,
                position=target.position,
            )
            for study, target in pairs
        ),
        batch_size=ROWS,
    )  # fmt: skip
    EvidencePair.objects.bulk_create(
        (
            EvidencePair(unit=unit, target=target, study_id=study)
            for unit, (study, target) in zip(units, pairs, strict=True)
        ),
        batch_size=ROWS,
    )
    return {_place(study, target): unit.pk for unit, (study, target) in zip(units, pairs, strict=True)}
