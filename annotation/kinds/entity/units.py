"""Units of an entity round: the abstracts of the chosen reviews, of their included studies, or of both."""

from collections.abc import Collection, Sequence
from itertools import chain

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.kinds.entity.values import KIND
from annotation.kinds.units import REVIEWS, STUDIES
from annotation.models import AbstractUnit, Inclusion, MachineReading, ReadingTask, Review, Study
from projects.models import Decision, Round, Unit

ABSTRACT = "abstract"
ROWS = 2000


def get_or_create_units(round: Round, chosen: Sequence[int], of: str) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of the abstracts of these reviews (unit ids), each before those of its studies.

    Missing units are created. A study of several reviews is one unit.
    """
    reviews, links = _reviews(chosen, of), _links(chosen, of)
    units = _units_of(round, dict.fromkeys(chain.from_iterable(_articles(chosen, reviews, links).values())))
    return [(unit, 0) for unit in units.values()]


def with_read_abstracts(round: Round, chosen: Sequence[int], of: str) -> list[tuple[int, int]]:
    """Return the chosen units as `get_or_create_units` does, with each review replaced by its abstracts in which a
    model found spans and on which no person has decided. Abstracts among the chosen units stay.
    """
    reviews, links = _reviews(chosen, of).filter(_is_read("review")), _links(chosen, of).filter(_is_read("study"))
    articles = _articles(chosen, reviews, links)
    units = _units_of(round, dict.fromkeys(chain.from_iterable(articles.values())))
    asked = set(AbstractUnit.objects.filter(unit__in=chosen).values_list("unit", flat=True))
    in_order = ([unit] if unit in asked else [units[article] for article in articles[unit]] for unit in chosen)
    return [(unit, 0) for unit in dict.fromkeys(chain.from_iterable(in_order))]


def count_units(chosen: Sequence[int], of: str) -> int:
    """Return the number of units that `get_or_create_units` returns for these reviews (unit ids)."""
    return _count(_reviews(chosen, of), _links(chosen, of))


def count_read_abstracts(chosen: Sequence[int], of: str) -> int:
    """Return the number of units that `with_read_abstracts` returns for these units.

    Abstracts that are chosen beside their review are counted twice.
    """
    read = _count(_reviews(chosen, of).filter(_is_read("review")), _links(chosen, of).filter(_is_read("study")))
    return read + AbstractUnit.objects.filter(unit__in=chosen).count()


def _count(reviews: QuerySet[Review], links: QuerySet[Inclusion]) -> int:
    return reviews.count() + links.order_by().values("study").distinct().count()


def _reviews(chosen: Sequence[int], of: str) -> QuerySet[Review]:
    """Return the reviews (unit ids) whose abstracts are asked about."""
    reviews = Review.objects.filter(unit__in=chosen).exclude(abstract="")
    return reviews.none() if of == STUDIES else reviews


def _links(chosen: Sequence[int], of: str) -> QuerySet[Inclusion]:
    """Return the inclusions of the studies whose abstracts are asked about."""
    links = Inclusion.objects.included().filter(review__unit__in=chosen).exclude(study__abstract="")
    return links.none() if of == REVIEWS else links


def _is_read(owner: str) -> Q:
    """Condition on a review, or on the inclusion of a study: a model found spans, and no person has decided."""
    pk = OuterRef("pk" if owner == "review" else "study")
    readings = MachineReading.objects.filter(task=ReadingTask.PIO, **{owner: pk})
    decisions = Decision.objects.filter(kind=KIND, answer__isnull=False, **{f"unit__abstract__{owner}": pk})
    return Q(Exists(readings)) & ~Q(Exists(decisions))


def _articles(
    chosen: Sequence[int], reviews: QuerySet[Review], links: QuerySet[Inclusion]
) -> dict[int, list[Review | Study]]:
    """Return the articles of each chosen review (unit id): the review itself, then its studies."""
    articles: dict[int, list[Review | Study]] = {unit: [] for unit in chosen}
    for review in reviews:
        articles[review.unit_id].append(review)
    for link in links.select_related("study", "review").order_by("review_id", "position"):
        articles[link.review.unit_id].append(link.study)
    return articles


def _units_of(round: Round, articles: Collection[Review | Study]) -> dict[Review | Study, int]:
    """Return the unit of each abstract, in order. Missing units are created."""
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
    return {article: units[article] for article in articles}


def _existing(articles: Collection[Review | Study]) -> dict[Review | Study, int]:
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
