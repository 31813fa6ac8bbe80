"""Read the ratings of people and of a judge run for `measures.judges`. Runs a fixed number of queries."""

import re
from functools import cached_property
from typing import Any

from measures.judges import Judged, JudgedChoice, JudgedRound
from measures.judges.biases import Key
from measures.judges.reading import PARTLY, chosen, judged, off_scale, points_of, why_not_sampled
from measures.ratings import excluded
from measures.ratings.judgements import DERIVED, Criterion
from measures.ratings.reading import SourceNamed

from ..judging.rows import JudgePair, JudgeRow, followed, judge_preferences, judge_ratings
from ..judging.sets import other_units
from ..models import ComparedSystem, Control, JudgeAnswer, JudgePage, JudgeRun, PageText, RatingSource
from ..results.rating_rows import RoundRatings

Json = dict[str, Any]


class JudgedRatings:
    """The ratings of a round and of one judge run on it.

    Ratings that the round's declared rules exclude are left out, as in the figures that tables cite.
    """

    def __init__(self, run: JudgeRun) -> None:
        self.run, self.design = run, run.design
        self.people = RoundRatings(run.design)
        self.names = self.people.names

    def data(self) -> JudgedRound:
        """Return all that `measures.judges.judge_figures` needs."""
        judgements, preferences = self.people.judgements, self.people.preferences
        if self.people.rules.any:
            judgements, preferences, _ = excluded(judgements, preferences, self.people.rules, self.people.checks)
        return JudgedRound(
            judgements,
            [each for row in judge_ratings(self.run) for each in self._judged(row)],
            self.criteria,
            preferences,
            [each for pair in judge_preferences(self.run) for each in self._chosen(pair)],
            self._asked(),
            self._lengths(),
            own_systems(self.run),
            points_of(self.people.written["criteria"]),
            self.sampled(),
        )

    @cached_property
    def criteria(self) -> list[Criterion]:
        return [each for each in self.people.criteria if DERIVED not in each.key]

    @cached_property
    def _off_scale(self) -> set[tuple[str, str]]:
        return off_scale(self.people.written["criteria"])

    def _judged(self, row: JudgeRow) -> list[Judged]:
        return judged(
            row.source,
            [self.names[number] for number in row.systems],
            code=row.code,
            criterion=row.criterion,
            value=row.value,
            position=row.position,
            order=row.order,
            sample=row.sample,
            beside=self._off_scale,
        )

    def _chosen(self, pair: JudgePair) -> list[JudgedChoice]:
        left, right = ([self.names[n] for n in side] for side in (pair.left_systems, pair.right_systems))
        return chosen(
            pair.source, left, right, criterion=pair.criterion, choice=pair.choice, order=pair.order, sample=pair.sample
        )

    def _asked(self) -> set[Key]:
        """Return every text of the run's pages, with a valid answer or without."""
        sources = self.people.sources
        asked: set[Key] = set()
        for text in self.people.texts.values():
            source = sources[text.source]
            if not text.is_check:
                asked |= {(source.key, source.item, system) for system in text.systems}
        if self.run.judge_set_id:
            pages = JudgePage.objects.filter(source__judge_set=self.run.judge_set_id)
            for unit, target, review, number, texts in pages.values_list(
                "source__unit__key", "source__target__key", "source__review", "source__target", "texts"
            ):
                source = SourceNamed.of(unit=unit, target=target, review=review, number=number, gold=None)
                asked |= {(source.key, source.item, self.names[n]) for text in texts for n in text["systems"]}
        return asked

    def _lengths(self) -> dict[Key, int]:
        """Return the number of words of each text that people could rate."""
        rows = PageText.objects.filter(page__source__design=self.design, is_check=False)
        lengths: dict[Key, int] = {}
        for number, systems, text in rows.values_list("page__source__number", "system_numbers", "displayed_text"):
            source = self.people.sources[number]
            words = len(text.split())
            lengths |= {(source.key, source.item, self.names[n]): words for n in systems}
        return lengths

    def sampled(self) -> str:
        """Return why the sources that people rated are no random sample of the project's sources, or ""."""
        if not self.run.judge_set_id:
            return ""
        return why_not_sampled(self.design.round.sampling) or (PARTLY if other_units(self.design) else "")

    def facts(self) -> Json:
        """Return the numbers of answers and of answers without a valid value, and of followed instructions."""
        answers = JudgeAnswer.objects.filter(run=self.run, control=Control.NONE)
        return {
            "answers": answers.count(),
            "failed": answers.filter(is_valid=False).count(),
            "followed": len(followed(self.run)),
            "sources": RatingSource.objects.filter(design=self.design).count(),
        }


def own_systems(run: JudgeRun) -> set[str]:
    """Return the compared systems of the judge's family: the name of the family occurs in a system's model."""
    family = _letters(run.judge.family)
    if not family:
        return set()
    compared = ComparedSystem.objects.filter(design=run.design_id, run__isnull=False)
    return {
        name
        for name, config in compared.values_list("name", "run__version__config")
        if family in _letters(str(config.get("model", "")))
    }


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
