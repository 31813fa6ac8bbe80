"""Units of an effect round: each pair of the chosen reviews with the texts that may state its effect."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.clusters.sentences import split, unsplit
from annotation.kinds.effect import machine
from annotation.kinds.units import REVIEWS, STUDIES
from annotation.models import EffectPair, EffectUnit, Inclusion, Review, Study
from projects.models import Round, Unit

EFFECT = "effect"
ROWS = 2000
#: A pair, and the study that is asked about it; None for the review itself.
Asked = tuple[EffectPair, Study | None]


def get_or_create_units(round: Round, chosen: Sequence[int], of: str) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of these reviews (unit ids), text by text, so that a person reads each once."""
    split(unsplit(Review.objects.filter(unit__in=chosen)))
    reviews = _reviews(chosen)
    studies = _studies(reviews, of)
    split(unsplit(Study.objects.filter(pk__in={study.pk for each in studies.values() for study in each})))
    by_review = _asked(reviews, studies, of)
    asked = [one for unit in chosen if unit in by_review for one in by_review[unit]]
    units = get_or_create(asked)
    return [(units[_identity(pair, study)], _context(pair, study)) for pair, study in asked]


def with_read_effects(round: Round, chosen: Sequence[int], of: str) -> list[tuple[int, int]]:
    """Return the chosen units, with each review replaced by its pairs in the texts in which a model read their effect
    and on which no person has decided. Pairs among the chosen units stay.
    """
    by_review = _read(chosen, of)
    units = get_or_create([one for asked in by_review.values() for one in asked])
    stay = dict(EffectUnit.objects.filter(unit__in=chosen).values_list("unit", "unit__context"))
    items: dict[int, int] = {}
    for unit in chosen:
        if unit in stay:
            items[unit] = stay[unit]
        for pair, study in by_review.get(unit, ()):
            items[units[_identity(pair, study)]] = _context(pair, study)
    return list(items.items())


def count_read_effects(chosen: Sequence[int], of: str) -> int:
    """Return the number of units that `with_read_effects` returns for these units.

    Pairs that are chosen beside their review are counted twice.
    """
    return sum(map(len, _read(chosen, of).values())) + EffectUnit.objects.filter(unit__in=chosen).count()


def _read(chosen: Sequence[int], of: str) -> dict[int, list[Asked]]:
    """Return the pairs and texts with an effect of a model that no person has decided, by the unit of their review."""
    reviews = _reviews(chosen)
    found = machine.readable(list(reviews.values()))
    by_review = _asked(reviews, _studies(reviews, of), of)
    return {unit: [one for one in asked if _identity(*one) in found] for unit, asked in by_review.items()}


def _reviews(chosen: Sequence[int]) -> dict[int, Review]:
    return {review.unit_id: review for review in Review.objects.filter(unit__in=chosen)}


def _asked(reviews: dict[int, Review], studies: dict[int, list[Study]], of: str) -> dict[int, list[Asked]]:
    """Return each pair with each of its texts, by the unit of its review, text by text."""
    by_id = {review.pk: review for review in reviews.values()}
    pairs: dict[int, list[EffectPair]] = defaultdict(list)
    for pair in EffectPair.objects.filter(review__in=by_id).order_by("review_id", "position"):
        pair.review = by_id[pair.review_id]
        pairs[pair.review_id].append(pair)
    asked = {}
    for unit, review in reviews.items():
        texts = [None] if of != STUDIES and review.abstract else []
        asked[unit] = [(pair, study) for study in [*texts, *studies[review.pk]] for pair in pairs[review.pk]]
    return asked


def get_or_create(asked: Sequence[Asked]) -> dict[tuple[int, int | None], int]:
    """Return the units by pair and study (primary keys). The pairs have their review loaded."""
    units = _existing(asked)
    if missing := [(pair, study) for pair, study in asked if _identity(pair, study) not in units]:
        keys = {_identity(pair, study): key_of(pair, study) for pair, study in missing}
        # A run or another round may create the same units at the same time.
        Unit.objects.bulk_create(
            (
                Unit(
                    project_id=pair.review.project_id,
                    type=EFFECT,
                    key=keys[_identity(pair, study)],
                    context=_context(pair, study),
                    position=pair.position,
                )
                for pair, study in missing
            ),
            batch_size=ROWS,
            ignore_conflicts=True,
        )
        projects = {pair.review.project_id for pair, _ in missing}
        created = Unit.objects.filter(project__in=projects, type=EFFECT, key__in=list(keys.values()))
        unit_of = {(unit.project_id, unit.key): unit for unit in created}
        EffectUnit.objects.bulk_create(
            (
                EffectUnit(unit=unit_of[pair.review.project_id, keys[_identity(pair, study)]], pair=pair, study=study)
                for pair, study in missing
            ),
            batch_size=ROWS,
            ignore_conflicts=True,
        )
        units |= _existing(missing)
    return units


def _existing(asked: Sequence[Asked]) -> dict[tuple[int, int | None], int]:
    rows = EffectUnit.objects.filter(pair__in={pair.pk for pair, _ in asked}).values_list("pair", "study", "unit")
    return {(pair, study): unit for pair, study, unit in rows}


def key_of(pair: EffectPair, study: Study | None = None) -> str:
    """Return the key of a unit. The pair has its review loaded."""
    return f"{pair.review.pmid} pair {pair.position + 1}{f' study {study.pmid}' if study else ''}"


def count_units(chosen: Sequence[int], of: str) -> int:
    """Return the number of units that `get_or_create_units` returns for these reviews (unit ids)."""
    reviews = _reviews(chosen)
    studies = _studies(reviews, of)
    pairs: dict[int, int] = defaultdict(int)
    for review in EffectPair.objects.filter(review__in=reviews.values()).values_list("review", flat=True):
        pairs[review] += 1
    return sum(
        pairs[review.pk] * (len(studies[review.pk]) + (of != STUDIES and bool(review.abstract)))
        for review in reviews.values()
    )


def _studies(reviews: dict[int, Review], of: str) -> dict[int, list[Study]]:
    """Return the included studies of each review (primary key) that have an abstract."""
    links = Inclusion.objects.included().filter(review__in=reviews.values()).exclude(study__abstract="")
    studies: dict[int, list[Study]] = defaultdict(list)
    if of != REVIEWS:
        for link in links.select_related("study").order_by("review_id", "position"):
            studies[link.review_id].append(link.study)
    return studies


def _identity(pair: EffectPair, study: Study | None) -> tuple[int, int | None]:
    return pair.pk, study.pk if study else None


def _context(pair: EffectPair, study: Study | None) -> int:
    """Return the number of the text: odd for reviews, and even for studies, which several reviews may share."""
    return 2 * study.pk if study else 2 * pair.review_id + 1
