"""Read the ratings of people and of a judge run for `measures.judges`. Runs a fixed number of queries."""

import re
from functools import cached_property
from typing import Any

from measures.judges import Judged, JudgedChoice, JudgedRound
from measures.judges.biases import Key
from measures.judges.powered import NOT_SAMPLED
from measures.ratings import excluded
from measures.ratings.judgements import DERIVED, Criterion, Judgement, Preference
from measures.ratings.reading import SourceNamed

from ..judging.rows import JudgePair, JudgeRow, followed, judge_preferences, judge_ratings
from ..judging.sets import other_units
from ..kinds.scales import scales_of
from ..models import ComparedSystem, Control, JudgeAnswer, JudgePage, JudgeRun, PageText, RatingSource
from ..results.rating_rows import RoundRatings

Json = dict[str, Any]
FILTERED = "people rated a part of the sources that was chosen by a filter: no interval"
STRATIFIED = "people rated a stratified sample of the sources: no interval"
PARTLY = "the judge rated only a part of the other sources: no interval"
LATER = "sources arrived after the round was opened: no interval"


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
            [judged for row in judge_ratings(self.run) for judged in self._judged(row)],
            self.criteria,
            preferences,
            [chosen for pair in judge_preferences(self.run) for chosen in self._chosen(pair)],
            self._asked(),
            self._lengths(),
            self.own_systems(),
            self._points(),
            self.sampled(),
        )

    @cached_property
    def criteria(self) -> list[Criterion]:
        return [each for each in self.people.criteria if DERIVED not in each.key]

    def _judged(self, row: JudgeRow) -> list[Judged]:
        value = None if (row.criterion, row.value) in self._off_scale else row.value
        return [
            Judged(
                Judgement(
                    row.source.key,
                    self.names[number],
                    "judge",
                    row.criterion,
                    value,
                    row.position,
                    item=row.source.item,
                    text=row.code,
                ),
                row.order,
                row.sample,
            )
            for number in row.systems
        ]

    @cached_property
    def _off_scale(self) -> set[tuple[str, str]]:
        return {
            (criterion.key, option.value)
            for criterion in self.people.content.criteria
            for option in criterion.scale.options
            if option.off_scale
        }

    def _chosen(self, pair: JudgePair) -> list[JudgedChoice]:
        return [
            JudgedChoice(
                Preference(
                    pair.source.key,
                    self.names[left],
                    self.names[right],
                    "judge",
                    pair.criterion,
                    pair.choice,  # type: ignore[arg-type]
                    item=pair.source.item,
                ),
                pair.order,
                pair.sample,
            )
            for left in pair.left_systems
            for right in pair.right_systems
        ]

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

    def own_systems(self) -> set[str]:
        """Return the compared systems of the judge's family: the name of the family occurs in a system's model."""
        family = _letters(self.run.judge.family)
        if not family:
            return set()
        compared = ComparedSystem.objects.filter(design=self.design, run__isnull=False)
        return {
            name
            for name, config in compared.values_list("name", "run__version__config")
            if family in _letters(str(config.get("model", "")))
        }

    def _points(self) -> dict[str, tuple[float, ...]]:
        """Return the numbers of each ordered scale with which agreement is computed."""
        return {
            scale.name: tuple(float(value) for value in scale.categories)
            for scale in scales_of(self.people.content)
            if scale.metric in ("ordinal", "interval")
        }

    def sampled(self) -> str:
        """Return why the sources that people rated are no random sample of the project's sources, or ""."""
        sampling = self.design.round.sampling
        if not self.run.judge_set_id:
            return ""
        for holds, reason in (
            (sampling.get("rolling"), LATER),
            (any((sampling.get("filters") or {}).values()), FILTERED),
            (not sampling.get("sample"), NOT_SAMPLED),
            (sampling.get("strata"), STRATIFIED),
        ):
            if holds:
                return reason
        return PARTLY if other_units(self.design) else ""

    def facts(self) -> Json:
        """Return the numbers of answers and of answers without a valid value, and of followed instructions."""
        answers = JudgeAnswer.objects.filter(run=self.run, control=Control.NONE)
        return {
            "answers": answers.count(),
            "failed": answers.filter(is_valid=False).count(),
            "followed": len(followed(self.run)),
            "sources": RatingSource.objects.filter(design=self.design).count(),
        }


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
