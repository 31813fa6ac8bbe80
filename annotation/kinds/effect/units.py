"""Units of an effect round: each pair of the chosen reviews with the texts that may state its effect."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.clusters.sentences import split, unsplit
from annotation.kinds.units import REVIEWS, STUDIES
from annotation.models import EffectPair, EffectUnit, Inclusion, Review, Study
from projects.models import Round, Unit

EFFECT = "effect"
ROWS = 2000
#: A pair, and the study that is asked about it; None for the review itself.
Asked = tuple[EffectPair, Study | None]


def get_or_create_units(round: Round, chosen: Sequence[int], of: str) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of these reviews (unit ids), text by text, so that a person reads each once."""
    reviews = {review.unit_id: review for review in Review.objects.filter(unit__in=chosen)}
    split(unsplit(Review.objects.filter(unit__in=chosen)))
    studies = _studies(reviews, of)
    split(unsplit(Study.objects.filter(pk__in={study.pk for each in studies.values() for study in each})))
    pairs: dict[int, list[EffectPair]] = defaultdict(list)
    for pair in EffectPair.objects.filter(review__in=reviews.values()).order_by("review_id", "position"):
        pairs[pair.review_id].append(pair)
    asked: list[Asked] = []
    for unit in chosen:
        if review := reviews.get(unit):
            texts = [None] if of != STUDIES and review.abstract else []
            asked += [(pair, study) for study in [*texts, *studies[review.pk]] for pair in pairs[review.pk]]
    rows = EffectUnit.objects.filter(pair__review__in=reviews.values()).values_list("pair", "study", "unit")
    units: dict[tuple[int, int | None], int] = {(pair, study): unit for pair, study, unit in rows}
    missing = [(pair, study) for pair, study in asked if _identity(pair, study) not in units]
    pmids = {review.pk: review.pmid for review in reviews.values()}
    created = Unit.objects.bulk_create(
        (
            Unit(
                project_id=round.project_id,
                type=EFFECT,
                key=f"{pmids[pair.review_id]} pair {pair.position + 1}{f' study {study.pmid}' if study else ''}",
                context=_context(pair, study),
                position=pair.position,
            )
            for pair, study in missing
        ),
        batch_size=ROWS,
    )
    EffectUnit.objects.bulk_create(
        (EffectUnit(unit=unit, pair=pair, study=study) for unit, (pair, study) in zip(created, missing, strict=True)),
        batch_size=ROWS,
    )
    units |= {_identity(*each): unit.pk for unit, each in zip(created, missing, strict=True)}
    return [(units[_identity(pair, study)], _context(pair, study)) for pair, study in asked]


def count_units(chosen: Sequence[int], of: str) -> int:
    """Return the number of units that `get_or_create_units` returns for these reviews (unit ids)."""
    reviews = {review.unit_id: review for review in Review.objects.filter(unit__in=chosen)}
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
