"""Read the counted answers of a round from the database. Runs a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterator, Set
from functools import cached_property
from typing import Any, cast

from django.db.models import QuerySet

from generation import metrics
from generation.metrics.protocol import Figure
from generation.models import Score, Scoring
from measures.ratings import Exclusions
from measures.ratings.judgements import REFERENCE, Choice
from measures.ratings.reading import AnswerRead, Preferred, Rated, Reading, SourceNamed, TextRead
from projects.answers.queries import counted
from projects.models import Answer, Member, Round

from .. import models
from ..design import stored
from ..models import ComparedSystem, PageText, RatingDesign, RatingSource
from ..protocols.content import as_json


def figures_of(metric: str) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of a metric with the names that rating statistics use."""
    found = metrics.get(metric)
    return ((f"{found.name}: {figure.label}", figure) for figure in found.figures)


class RoundRatings(Reading):
    """The ratings of a round. Raise `Conflict` if its design was changed after it was frozen.

    With an ``author``, only this person's ratings, without the check of the design. ``without``: ids of sources
    that are left out.
    """

    def __init__(self, design: RatingDesign, author: Member | None = None, *, without: Set[int] = frozenset()) -> None:
        if author is None:
            stored.intact(design)
        self.design, self.round, self.author = design, design.round, author
        self.without = without
        self.content = stored.content_of(design.round)
        self.written = as_json(self.content)
        self.names = dict(ComparedSystem.objects.filter(design=design).values_list("number", "name"))

    @property
    def rules(self) -> Exclusions:
        return Exclusions.declared(self.round.options)

    @cached_property
    def sources(self) -> dict[int, SourceNamed]:
        rows = RatingSource.objects.filter(design=self.design).order_by("number")
        return {
            number: SourceNamed.of(unit=unit, target=target, review=review, number=target_id, gold=gold)
            for number, unit, target, review, target_id, gold in rows.values_list(
                "number", "unit__key", "target__key", "review", "target", "gold"
            )
        }

    def _counted(self) -> QuerySet[Answer]:
        answers = counted(self.round)
        return answers if self.author is None else answers.filter(author=self.author)

    @cached_property
    def texts(self) -> dict[int, TextRead]:
        """Texts by id."""
        rows = PageText.objects.filter(page__source__design=self.design).exclude(page__source__in=self.without)
        if self.author is not None:
            units = self._counted().order_by().values_list("assignment__unit", flat=True)
            rows = rows.filter(page__unit__in=list(units))
        return {
            pk: TextRead(source, code, tuple(self.names[n] for n in numbers), is_check, made_from)
            for pk, source, code, numbers, is_check, made_from in rows.values_list(
                "pk", "page__source__number", "code", "system_numbers", "is_check", "made_from"
            )
        }

    @cached_property
    def answers(self) -> dict[Any, AnswerRead]:
        rows = self._counted().values_list(
            "pk", "author__pseudonym", "assignment__unit", "active_ms", "assignment__repeat"
        )
        return {pk: AnswerRead(rater, unit, ms, repeat) for pk, rater, unit, ms, repeat in rows}

    @cached_property
    def rated(self) -> list[Rated]:
        rows = models.Rating.objects.filter(answer__in=self._counted().order_by().values("pk")).order_by("pk")
        return [
            (self.answers[answer], self.texts[text], criterion, None if na else value, position)
            for answer, text, criterion, value, na, position in rows.values_list(
                "answer", "text", "criterion", "value", "is_na", "position"
            )
            if text in self.texts
        ]

    @cached_property
    def preferred(self) -> list[Preferred]:
        rows = models.Preference.objects.filter(answer__in=self._counted().order_by().values("pk")).order_by("pk")
        return [
            (self.answers[answer], self.texts[left], self.texts[right], criterion, cast(Choice, choice))
            for answer, left, right, criterion, choice in rows.values_list(
                "answer", "left", "right", "criterion", "choice"
            )
            if left in self.texts
        ]

    # Metrics

    def scorings(self) -> list[Scoring]:
        """Return the current scorings of the compared runs."""
        runs = ComparedSystem.objects.filter(design=self.design, run__isnull=False).values("run")
        return list(Scoring.objects.latest_finished().filter(run__in=runs).order_by("pk"))

    def scores(self, scorings: list[Scoring]) -> dict[str, dict[tuple[Any, Any, str], float | None]]:
        """Return metric figure name -> (source, item, system) -> score of the summary.

        The score is against the target that raters saw. If the scoring has no references, it is the summary's own
        score.
        """
        label = {(scoring.pk, figure.key): name for scoring in scorings for name, figure in figures_of(scoring.metric)}
        of_summary = self._of_summary()
        found: dict[str, dict[tuple[Any, Any, str], float | None]] = defaultdict(dict)
        rows = Score.objects.filter(scoring__in=scorings, summary__in=of_summary).order_by("pk")
        for scoring, summary, reference, values in rows.values_list("scoring", "summary", "reference", "values"):
            for number, system in of_summary[summary]:
                source = self.sources[number]
                if reference in (None, source.target):
                    for figure, value in values.items():
                        if name := label.get((scoring, figure)):
                            found[name][source.key, source.item, system] = value
        return dict(found)

    def _of_summary(self) -> dict[int, list[tuple[int, str]]]:
        """Return summary id -> (source number, system) pairs."""
        rows = models.PageTextOf.objects.filter(system__design=self.design, summary__isnull=False)
        rows = rows.exclude(text__page__source__in=self.without)
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for summary, number, name in rows.values_list("summary", "text__page__source__number", "system__name"):
            found[summary].append((number, name))
        return found

    @cached_property
    def reference(self) -> str:
        return REFERENCE if ComparedSystem.objects.filter(design=self.design, run=None, name=REFERENCE).exists() else ""


def checks_of(round: Round, member: Member) -> tuple[int, int]:
    """Return how many attention checks a person passed, and had, in a rating round; (0, 0) in other rounds."""
    design = RatingDesign.objects.select_related("round").filter(round=round).first()
    if design is None:
        return 0, 0
    missed, had = RoundRatings(design, author=member).checks.get(member.pseudonym, (0, 0))
    return had - missed, had
