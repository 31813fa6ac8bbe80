"""Units of an evidence round: each target with each study of its review, grouped by study."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from measures import sampling
from projects.models import Round, Unit

from ...clusters.sentences import split, unsplit
from ...models import EvidencePair, Inclusion, Level, Study, Target

PAIR = "target and study"
#: Project id, study id and target key.
PairIdentity = tuple[int, int, str]
ROWS = 2000
#: Value of the option ``order`` for rounds that do not follow corpus order.
SHUFFLED = "shuffled"


def get_or_create_pairs(round: Round, units: Sequence[int]) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of the pairs of these target sentences (unit ids).

    Missing pairs are created. The context is the study, so that a person who reads a study judges all its targets.
    """
    by_study = _targets_by_study(_in_order(units))
    split(unsplit(Study.objects.filter(pk__in=list(by_study))))
    studies = list(by_study)
    if round.sampling.get("order") == SHUFFLED:
        studies = sampling.shuffled(studies, round.seed)
    pairs = [(study, target) for study in studies for target in by_study[study]]
    units_by_pair = _existing_units(pairs)
    units_by_pair |= _create_pairs(round, [pair for pair in pairs if _identity(*pair) not in units_by_pair])
    return [(units_by_pair[_identity(study, target)], study) for study, target in pairs]


def count_pairs(units: Sequence[int]) -> int:
    """Return the number of pairs that `get_or_create_pairs` returns for these target sentences (unit ids)."""
    return sum(len(targets) for targets in _targets_by_study(_in_order(units)).values())


def preview_pairs(units: Iterable[int]) -> dict[int, EvidencePair]:
    """Return one unsaved pair per target sentence (unit id), for the preview of a round.

    A target without a study that has an abstract gets an empty study.
    """
    targets = list(Target.objects.filter(unit__in=list(units)).select_related("unit", "review"))
    first: dict[int, int] = {}
    for study, study_targets in _targets_by_study(targets).items():
        for target in study_targets:
            first.setdefault(target.pk, study)
    studies = Study.objects.in_bulk(first.values())
    return {
        t.unit_id: EvidencePair(unit=t.unit, target=t, study=studies.get(first.get(t.pk, 0)) or Study())
        for t in targets
    }


def pairs_of(targets: Iterable[Target]) -> dict[int, list[EvidencePair]]:
    """Return the existing pairs of targets, with units and studies, by the id of the current target. One query."""
    by_key = {(target.project_id, target.key): target.pk for target in targets if target.level == Level.SENTENCE}
    rows = EvidencePair.objects.filter(
        target__project__in={project for project, _ in by_key}, target__key__in={key for _, key in by_key}
    )
    by_target: dict[int, list[EvidencePair]] = defaultdict(list)
    for pair in rows.select_related("unit", "study", "target").order_by("study__pmid", "pk"):
        if (identity := (pair.target.project_id, pair.target.key)) in by_key:
            by_target[by_key[identity]].append(pair)
    return by_target


def _in_order(units: Sequence[int]) -> list[Target]:
    by_unit = {target.unit_id: target for target in Target.objects.filter(unit__in=units)}
    return [by_unit[unit] for unit in units if unit in by_unit]


def _targets_by_study(targets: Sequence[Target]) -> dict[int, list[Target]]:
    """Return the targets that each study may support. Omit studies without an abstract."""
    links = Inclusion.objects.included().filter(review__in={t.review_id for t in targets})
    links = links.exclude(study__abstract="")
    of_review: dict[int, list[int]] = defaultdict(list)
    for review, study in links.order_by("review_id", "study_id").values_list("review_id", "study_id"):
        of_review[review].append(study)
    by_study: dict[int, list[Target]] = defaultdict(list)
    for target in targets:
        for study in of_review[target.review_id]:
            by_study[study].append(target)
    return by_study


def _identity(study: int, target: Target) -> PairIdentity:
    """Return the identity of a pair, which does not depend on the text of the target."""
    return target.project_id, study, target.key


def _existing_units(pairs: Sequence[tuple[int, Target]]) -> dict[PairIdentity, int]:
    rows = EvidencePair.objects.filter(
        study__in={study for study, _ in pairs}, target__key__in={target.key for _, target in pairs}
    ).order_by()
    columns = ("target__project", "study", "target__key", "unit")
    return {(project, study, key): unit for project, study, key, unit in rows.values_list(*columns)}


def _create_pairs(round: Round, pairs: Sequence[tuple[int, Target]]) -> Mapping[PairIdentity, int]:
    pmids = dict(Study.objects.filter(pk__in={study for study, _ in pairs}).values_list("pk", "pmid"))
    units = Unit.objects.bulk_create(
        (
            Unit(
                project_id=round.project_id,
                type=PAIR,
                key=f"{target.key} {pmids[study]}",
                context=study,
                position=target.position,
            )
            for study, target in pairs
        ),
        batch_size=ROWS,
    )
    EvidencePair.objects.bulk_create(
        (
            EvidencePair(unit=unit, target=target, study_id=study)
            for unit, (study, target) in zip(units, pairs, strict=True)
        ),
        batch_size=ROWS,
    )
    return {_identity(study, target): unit.pk for unit, (study, target) in zip(units, pairs, strict=True)}
