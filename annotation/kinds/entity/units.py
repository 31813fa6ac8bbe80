"""Units of an entity round: the abstracts of the chosen reviews, of their included studies, or of both."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from annotation.kinds.units import REVIEWS, STUDIES
from annotation.models import AbstractUnit, Inclusion, Review, Study
from projects.models import Round, Unit

ABSTRACT = "abstract"
ROWS = 2000


def get_or_create_units(round: Round, chosen: Sequence[int], of: str) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of the abstracts of these reviews (unit ids), each before those of its studies.

    Missing units are created. A study of several reviews is one unit.
    """
    reviews = {review.unit_id: review for review in Review.objects.filter(unit__in=chosen)}
    studies: dict[int, list[Study]] = defaultdict(list)
    if of != REVIEWS:
        links = _links(reviews.values()).select_related("study").order_by("review_id", "position")
        for link in links:
            studies[link.review_id].append(link.study)
    articles: dict[Review | Study, None] = {}
    for unit in chosen:
        if review := reviews.get(unit):
            mine = [review] if of != STUDIES and review.abstract else []
            articles |= dict.fromkeys([*mine, *studies[review.pk]])
    units = _existing(articles)
    missing = [article for article in articles if article not in units]
    created = Unit.objects.bulk_create(
        (Unit(project_id=round.project_id, type=ABSTRACT, key=_key(article)) for article in missing), batch_size=ROWS
    )
    AbstractUnit.objects.bulk_create(
        (AbstractUnit(unit=unit, **{_name(article): article}) for unit, article in zip(created, missing, strict=True)),
        batch_size=ROWS,
    )
    units |= {article: unit.pk for article, unit in zip(missing, created, strict=True)}
    return [(units[article], 0) for article in articles]


def count_units(chosen: Sequence[int], of: str) -> int:
    """Return the number of units that `get_or_create_units` returns for these reviews (unit ids)."""
    reviews = Review.objects.filter(unit__in=chosen)
    studies = 0 if of == REVIEWS else _links(reviews).values("study").distinct().count()
    return studies + (0 if of == STUDIES else reviews.exclude(abstract="").count())


def _links(reviews: Iterable[Review]) -> QuerySet[Inclusion]:
    return Inclusion.objects.included().filter(review__in=reviews).exclude(study__abstract="")


def _existing(articles: dict[Review | Study, None]) -> dict[Review | Study, int]:
    found: dict[Review | Study, int] = {}
    for name in ("review", "study"):
        rows = {article.pk: article for article in articles if _name(article) == name}
        units = AbstractUnit.objects.filter(**{f"{name}__in": list(rows)}).values_list(name, "unit")
        found |= {rows[pk]: unit for pk, unit in units}
    return found


def _name(article: Review | Study) -> str:
    return "review" if isinstance(article, Review) else "study"


def _key(article: Review | Study) -> str:
    return f"{_name(article)} {article.pmid}"
