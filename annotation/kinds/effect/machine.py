"""Effects that models read in abstracts (`annotation.models.reading`), and decisions on them.

If the evidence is not in the abstract, only the direction is decided. People then choose the sentence.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.clusters.sentences import split, unsplit
from annotation.kinds.machine import insert_machine_decisions
from annotation.kinds.machine import undecided as without_decision
from annotation.models import Effect, EffectUnit, JudgedEffect, ReadingTask, Review, Role, Sentence, Study
from annotation.readings.current import current_readings
from projects.models import Import, Unit

from .values import DIRECTION, KIND, SENTENCE, closest_sentence

FIELDS = [DIRECTION, SENTENCE]
Asked = tuple[int, int | None]


def _effects() -> QuerySet[Effect]:
    """Return the effects that a model read in the abstract of a review or of an included study."""
    of_review = Q(reading__inclusion__isnull=True) & ~Q(reading__review__abstract="")
    of_study = Q(reading__inclusion__role=Role.INCLUDED) & ~Q(reading__inclusion__study__abstract="")
    return Effect.objects.filter(of_review | of_study)


def current_effects(pairs: Collection[int]) -> dict[Asked, Effect]:
    """Return the effect of the current reading of each of these pairs and texts, by (pair, study). One query."""
    current = Q(reading__in=current_readings(ReadingTask.EFFECTS, "review"))
    current |= Q(reading__in=current_readings(ReadingTask.EFFECTS, "inclusion"))
    effects = Effect.objects.filter(current, pair__in=pairs).order_by("reading_id")
    found = effects.select_related("reading__inclusion", "reading__imported").defer("reading__imported__report")
    return {(e.pair_id, e.reading.inclusion.study_id if e.reading.inclusion else None): e for e in found}


def readable(reviews: Collection[Review]) -> set[Asked]:
    """Return the (pair, study) of the effects that a model read in these reviews and on which no person has decided."""
    found: Iterable[Asked] = (
        _effects().filter(pair__review__in=reviews).values_list("pair", "reading__inclusion__study")
    )
    judged = EffectUnit.objects.filter(
        pair__review__in=reviews, unit__decisions__kind=KIND, unit__decisions__answer__isnull=False
    )
    return set(found) - set(judged.values_list("pair", "study"))


def has_unasked() -> Q:
    """Condition on the unit of a review: a model read an effect in its abstract or in that of an included study, which
    is no unit yet.
    """
    asked = EffectUnit.objects.filter(pair=OuterRef("pair"))
    of_review = _effects().filter(reading__review__unit=OuterRef("pk"))
    of_study = _effects().filter(reading__inclusion__review__unit=OuterRef("pk"))
    same_study = asked.filter(study=OuterRef("reading__inclusion__study"))
    return Q(Exists(of_review.exclude(Exists(asked.filter(study=None))))) | Q(
        Exists(of_study.exclude(Exists(same_study)))
    )


def undecided(units: QuerySet[Unit]) -> QuerySet[Unit]:
    """Return the pairs with an effect of a model but without any decision, and reviews of `has_unasked`."""
    effects = _effects().filter(pair=OuterRef("effect__pair"))
    own = effects.filter(reading__inclusion=None)
    of_study = effects.filter(reading__inclusion__study=OuterRef("effect__study"))
    has_effect = Q(Exists(own), effect__study=None, effect__isnull=False) | Q(Exists(of_study))
    return without_decision(units, has_effect | has_unasked(), KIND, FIELDS)


def decide(units: Sequence[Unit]) -> None:
    """Write the decisions on these pairs with effects of a model. Idempotent, with a fixed number of queries."""
    among = undecided(Unit.objects.filter(pk__in=[unit.pk for unit in units]))
    rows = list(
        EffectUnit.objects.filter(unit__in=among.order_by().values("pk")).select_related("pair__review", "study")
    )
    if not rows:
        return
    sentences = _sentences([row.study or row.pair.review for row in rows])
    effects = current_effects({row.pair_id for row in rows})
    judged: list[JudgedEffect] = []
    adopted: dict[str, list[tuple[int, Import]]] = {field: [] for field in FIELDS}
    for row in rows:
        effect = effects.get((row.pair_id, row.study_id))
        of_text = sentences[("study", row.study_id) if row.study_id else ("review", row.pair.review_id)]
        sentence = closest_sentence(effect, of_text) if effect else None
        if effect:
            imported = effect.reading.imported
            judged.append(
                JudgedEffect(unit_id=row.unit_id, imported=imported, direction=effect.direction, sentence=sentence)
            )
            for field in FIELDS if sentence else [DIRECTION]:
                adopted[field].append((row.unit_id, imported))
    JudgedEffect.objects.bulk_create(judged)
    for field, units_and_imports in adopted.items():
        insert_machine_decisions(units_and_imports, KIND, [field])


def _sentences(articles: Collection[Review | Study]) -> dict[tuple[str, int], list[Sentence]]:
    """Return the sentences of abstracts, which are split if they are not yet."""
    found: dict[tuple[str, int], list[Sentence]] = defaultdict(list)
    reviews = {article.pk for article in articles if isinstance(article, Review)}
    studies = {article.pk for article in articles if isinstance(article, Study)}
    split(unsplit(Review.objects.filter(pk__in=reviews)))
    split(unsplit(Study.objects.filter(pk__in=studies)))
    for name, ids in (("review", reviews), ("study", studies)):
        for sentence in Sentence.objects.filter(**{f"{name}__in": ids}).order_by("number"):
            found[name, getattr(sentence, f"{name}_id")].append(sentence)
    return found
