"""The level of reviews (M3's level 1, MS^2's texts-to-text, MSLR2022)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import Exists, OuterRef

from annotation.models import Cluster, Inclusion, Level, Proposition, Review, SplitLevel, Target
from projects.models import Project

from ..models import UnitLevel
from .protocol import Reference
from .targets import TargetSource


class DocumentSource(TargetSource):
    """Reviews with a target, also with one that is withheld. The unit is that of the review."""

    level = UnitLevel.DOCUMENT
    splits = (SplitLevel.DOCUMENT, SplitLevel.REVIEW)
    name = "reviews (documents)"
    unit = "review__unit_id"

    def unit_of(self, target: Target) -> int:
        return target.review.unit_id

    def propositions_of(self, reviews: Sequence[int]) -> Mapping[int, Sequence[Reference]]:
        propositions: dict[int, list[Reference]] = defaultdict(list)
        texts = Proposition.objects.current().filter(
            cluster__in=Cluster.objects.current().filter(review__in=reviews), position=0
        )
        for text in texts.select_related("cluster").in_corpus_order():
            propositions[text.cluster.review_id].append(Reference(text.unit_id, text.cluster.key, text.text))
        return propositions

    def skipped(self, project: Project) -> dict[str, int]:
        """Count reviews with included studies but no target, not even a withheld one."""
        included = Inclusion.objects.included().filter(review=OuterRef("pk")).exclude(study__abstract="")
        targets = Target.objects.current().filter(review=OuterRef("pk"), level=Level.DOCUMENT)
        count = Review.objects.filter(Exists(included), ~Exists(targets), project=project).count()
        return {"reviews without a target": count}
