"""The level of pairs: an intervention and an outcome of a review (MS^2's table-to-table).

The input of a pair is a table with a row per study: the sentence that shows the effect, and its direction. Rows are
those of included studies, then of general references, in the order of the review, as in MS^2's program
(``tabular_summarizer_input_prep``). The target is the direction in the abstract of the review.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Length

from annotation.corpus.effects import PairEffects, current_effects
from annotation.kinds.effect.units import get_or_create, key_of
from annotation.models import Direction, Effect, EffectPair, EffectUnit, Level, SplitLevel, Target
from measures.direction import MS2_CLASSES
from projects.models import Project

from ..backends.protocol import InputText, Source
from ..models import UnitLevel
from .protocol import Material, Position, Reference, UnitSource

#: MS^2's names of directions.
NAMES = dict(zip(Direction.values, MS2_CLASSES, strict=True))


class PairSource(UnitSource):
    """Pairs with an effect of at least one study. Their unit is that of the review's own effect.

    A run or a round creates the units, because a data set of MS^2's size has hundreds of thousands of pairs.
    """

    level = UnitLevel.PAIR
    splits = (SplitLevel.REVIEW,)
    name = "pairs of an intervention and an outcome"
    order = ("review_id", "position")
    unit = "pair_unit"
    is_alternative = False

    def rows(self, project: Project) -> QuerySet[Any]:
        read = Effect.objects.filter(pair=OuterRef("pk"), reading__inclusion__isnull=False)
        decided = _of_studies().filter(pair=OuterRef("pk"))
        own = EffectUnit.objects.filter(pair=OuterRef("pk"), study=None).values("unit")
        return EffectPair.objects.filter(Exists(read) | Exists(decided), review__project=project).annotate(
            pair_unit=Subquery(own[:1])
        )

    def with_targets(self, projects: Iterable[int]) -> set[int]:
        pairs = EffectPair.objects.filter(review__project__in=projects).order_by()
        return set(pairs.values_list("review__project", flat=True).distinct())

    def existing(self, project: Project) -> QuerySet[Any]:
        return self.rows(project).filter(pair_unit__isnull=False)

    def existing_units(self, positions: Sequence[Position]) -> list[int]:
        missing = {(review, position) for review, position, unit in positions if unit is None}
        pairs = EffectPair.objects.filter(review__in={review for review, _ in missing}).select_related("review")
        asked = {(pair.review_id, pair.position): pair for pair in pairs}
        created = get_or_create([(asked[place], None) for place in sorted(missing)])
        return [
            created[asked[review, position].pk, None] if unit is None else unit for review, position, unit in positions
        ]

    def materials(self, units: Sequence[int], *, pages: bool = False) -> dict[int, Material]:
        rows = EffectUnit.objects.filter(unit__in=units, study=None).select_related("pair__review", "unit")
        asked = {row.unit_id: row for row in rows}
        effects = current_effects([row.pair for row in asked.values()])
        withheld = set(
            Target.objects.current()
            .filter(review__in={row.pair.review_id for row in asked.values()}, level=Level.DOCUMENT, is_withheld=True)
            .values_list("review", flat=True)
        )
        return {
            unit: _material(row, effects[row.pair_id], is_withheld=row.pair.review_id in withheld)
            for unit, row in asked.items()
            if effects[row.pair_id].of_studies
        }

    def sizes(self, units: Sequence[int], *, pages: bool = False) -> Mapping[int, int]:
        length = Length("evidence") + Coalesce(F("end") - F("start"), 0)
        read = Effect.objects.filter(pair__units__unit__in=units, pair__units__study=None)
        rows = read.filter(reading__inclusion__isnull=False).order_by().values_list("pair__units__unit")
        sizes: dict[int, int] = defaultdict(int, {unit: 1 + size for unit, size in rows.annotate(size=Sum(length))})
        # What people decided may replace all effects that a model found.
        of_pair = EffectUnit.objects.filter(unit__in=units, study=None, pair__in=_of_studies().values("pair"))
        decided = list(of_pair.values_list("unit", flat=True))
        materials = self.materials(decided) if decided else {}
        return sizes | {
            unit: sum(1 + len(text.text) for text in materials[unit].source.inputs) if unit in materials else 0
            for unit in decided
        }

    def skipped(self, project: Project) -> dict[str, int]:
        count = EffectPair.objects.filter(review__project=project).count() - self.rows(project).count()
        return {"pairs without an effect of a study": count}

    def first_key(self, project: Project) -> str | None:
        pair = self.rows(project).select_related("review").order_by(*self.order).first()
        return key_of(pair) if pair else None

    def matching_keys(self, project: Project, keys: Sequence[str]) -> set[str]:
        reviews = {key.rpartition(" pair ")[0] for key in keys}
        pairs = self.rows(project).filter(review__pmid__in=reviews).select_related("review")
        return {key_of(pair) for pair in pairs}.intersection(keys)


def _of_studies() -> QuerySet[EffectUnit]:
    """Return the effects of studies with a decision."""
    return EffectUnit.objects.filter(Q(unit__decisions__isnull=False), study__isnull=False)


def _material(row: EffectUnit, effects: PairEffects, *, is_withheld: bool) -> Material:
    pair = row.pair
    source = Source(
        row.unit_id,
        row.unit.key,
        tuple(
            InputText(effect.evidence, inclusion.study.title, inclusion.study.pmid, NAMES[effect.direction])
            for inclusion, effect in effects.of_studies
        ),
        {"i": pair.intervention, "o": pair.outcome},
        f"<int> {pair.intervention} </int>\n<out> {pair.outcome} </out>",
        pair.review.title,
    )
    own = None
    if effects.of_review and not is_withheld:
        own = Reference(row.unit_id, row.unit.key, NAMES[effects.of_review.direction])
    return Material(source, own, (), pair.review_id)
