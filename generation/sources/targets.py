"""The material of targets: the texts of a review's studies, and the target itself."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet, Sum
from django.db.models.functions import Length

from annotation.corpus.backgrounds import backgrounds_of
from annotation.corpus.tags import tagged_abstracts
from annotation.models import Input, Level, Target
from projects.models import Project

from ..backends.protocol import InputText, Source
from .protocol import Material, Reference, UnitSource, input_of


class TargetSource(UnitSource):
    """A level of targets."""

    def rows(self, project: Project) -> QuerySet[Any]:
        return Target.objects.current().filter(project=project, level=Level(self.level))

    def with_targets(self, projects: Iterable[int]) -> set[int]:
        shown = Target.objects.current().filter(project__in=projects, level=Level(self.level), is_withheld=False)
        return set(shown.order_by().values_list("project", flat=True).distinct())

    def materials(self, units: Sequence[int], *, pages: bool = False) -> dict[int, Material]:
        of_level = Target.objects.current().filter(level=Level(self.level)).select_related("review")
        targets = list(of_level.filter(**{f"{self.unit.removesuffix('_id')}__in": units}))
        reviews = {target.pk: target.review_id for target in targets}
        rows = list(Input.objects.current().filter(target__in=targets).with_source_text().select_related("study"))
        # An input without a text of its own is the abstract of its study.
        tagged = tagged_abstracts({(reviews[row.target_id], row.study_id): row.study for row in rows if not row.text})
        inputs: dict[int, list[InputText]] = defaultdict(list)
        for row in rows:
            of_study = "" if row.text else tagged.get((reviews[row.target_id], row.study_id), "")
            inputs[row.target_id].append(input_of(row.source_text, row.study, of_study))
        propositions = self.propositions_of([target.review_id for target in targets])
        backgrounds = backgrounds_of(target.review for target in targets)
        materials = {}
        for target in targets:
            if not inputs[target.pk]:
                continue
            unit, review = self.unit_of(target), target.review
            background = backgrounds[review.pk]
            source = Source(unit, target.key, tuple(inputs[target.pk]), background=background, question=review.title)
            own = None if target.is_withheld else Reference(target.unit_id, target.key, target.text)
            materials[unit] = Material(source, own, tuple(propositions.get(review.pk, ())), review.pk)
        return materials

    def unit_of(self, target: Target) -> int:
        return target.unit_id

    def propositions_of(self, reviews: Sequence[int]) -> Mapping[int, Sequence[Reference]]:
        """Return the propositions that a summary is also compared with, by review, in corpus order."""
        return {}

    def sizes(self, units: Sequence[int], *, pages: bool = False) -> Mapping[int, int]:
        texts: QuerySet[Any] = Input.objects.current().filter(
            target__level=Level(self.level), target__unit__superseded_by=None
        )
        unit = f"target__{self.unit.removesuffix('_id')}"
        rows = texts.with_source_text().filter(**{f"{unit}__in": units}).order_by()  # type: ignore[attr-defined]
        return dict(rows.values_list(unit).annotate(size=Sum(Length("source_text"))))
