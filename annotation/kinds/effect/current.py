"""Current effects of reviews and their studies, for release."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from annotation.models import EffectUnit, Review, Sentence

from ..machine import people_values
from .values import DIRECTION, KIND, SENTENCE


class DecidedEffect(NamedTuple):
    """A decided direction, or ``not reported``; and the sentence that shows it, if that is decided, too."""

    direction: str
    sentence: str


def decided_effects(reviews: Sequence[Review]) -> Mapping[tuple[int, int | None], DecidedEffect]:
    """Return the effects that people decided by pair and study (primary keys); None: the review itself.

    Needs a fixed number of queries.
    """
    rows = list(EffectUnit.objects.filter(pair__review__in=reviews).select_related("unit", "pair"))
    values = people_values([row.unit for row in rows], KIND) if rows else {}
    decided = [row for row in rows if DIRECTION in values[row.unit_id]]
    texts: dict[tuple[str, int, int], str] = {}
    for name, articles in (
        ("review", {row.pair.review_id for row in decided if not row.study_id}),
        ("study", {row.study_id for row in decided if row.study_id}),
    ):
        found = Sentence.objects.filter(**{f"{name}__in": articles}).values_list(name, "number", "text")
        texts |= {(name, article, number): text for article, number, text in (found if articles else ())}
    effects = {}
    for row in decided:
        value = values[row.unit_id]
        article = ("study", row.study_id) if row.study_id else ("review", row.pair.review_id)
        sentence = texts.get((*article, value.get(SENTENCE) or 0), "")
        effects[row.pair_id, row.study_id] = DecidedEffect(value[DIRECTION], sentence)
    return effects
