"""The counted answers of a round as judgements and preferences of its systems. A fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from generation import metrics
from generation.models import Score, Scoring
from measures.ratings import Criterion, Exclusions, Judgement, Preference, check_failed, m3
from projects.rounds.counted import counted

from .. import models
from ..design import stored
from ..models import Entrant, PageText, RatingDesign, RatingSource
from ..protocols.content import as_json

REFERENCE_STANDARD = "direction of effect"


@dataclass(frozen=True)
class SourceNamed:
    """A source as figures name it: items of one review are alike, so it is the review that intervals are over."""

    key: str
    item: str
    target: int | None
    gold: Mapping[str, str]


@dataclass(frozen=True)
class AnswerRead:
    rater: str
    unit: int
    ms: int
    repeat: int


@dataclass(frozen=True)
class TextRead:
    """A text of a page. ``systems``: who wrote it, by name; none of a check."""

    source: int
    code: str
    systems: tuple[str, ...]
    is_check: bool
    made_from: str


class Said:
    """What was said in a round. Raises `Conflict` where its design is not what was frozen."""

    def __init__(self, design: RatingDesign) -> None:
        stored.intact(design)
        self.design, self.round = design, design.round
        self.content = stored.content_of(design.round)
        self.names = dict(Entrant.objects.filter(design=design).values_list("number", "name"))

    @cached_property
    def criteria(self) -> list[Criterion]:
        """Those that figures are taken of: what was asked, free text left out, then what is derived."""
        asked = [
            Criterion.of(each)
            for each in as_json(self.content)["criteria"]
            if each["scale"]["type"] not in ("text", "preference")
        ]
        return asked + (list(m3.CRITERIA) if self.derives else [])

    @property
    def rules(self) -> Exclusions:
        """What the round declared before it was opened."""
        share = self.round.options.get("exclude_checks")
        return Exclusions(
            failed_share=None if share is None else share / 100, fast=bool(self.round.options.get("exclude_fast"))
        )

    @cached_property
    def is_blind(self) -> bool:
        """Whether polarity and modality are labels of the text, to be held against the target's."""
        return self.content.derives == "m3"

    @cached_property
    def derives(self) -> bool:
        """Whether M3's tables can be made of it."""
        keys = {criterion.key: criterion.values() for criterion in self.content.criteria}
        asks = {*m3.SLOTS, m3.POLARITY, m3.MODALITY} <= keys.keys()
        return self.is_blind or (asks and m3.SAME in keys[m3.MODALITY])

    @cached_property
    def sources(self) -> dict[int, SourceNamed]:
        """By number; the target's key is part of the item where a unit has several."""
        rows = RatingSource.objects.filter(design=self.design).order_by("number")
        made = {}
        for number, unit, target, review, target_id, gold in rows.values_list(
            "number", "unit__key", "target__key", "review", "target", "gold"
        ):
            item = f"{unit} {target}" if target and target != unit else unit
            made[number] = SourceNamed(review or unit, item, target_id, gold or {})
        return made

    @cached_property
    def texts(self) -> dict[int, TextRead]:
        """By id."""
        rows = PageText.objects.filter(page__source__design=self.design)
        return {
            pk: TextRead(source, code, tuple(self.names[n] for n in entrants), is_check, made_from)
            for pk, source, code, entrants, is_check, made_from in rows.values_list(
                "pk", "page__source__number", "code", "entrants", "is_check", "made_from"
            )
        }

    @cached_property
    def answers(self) -> dict[Any, AnswerRead]:
        rows = counted(self.round).values_list(
            "pk", "author__pseudonym", "assignment__unit", "active_ms", "assignment__repeat"
        )
        return {pk: AnswerRead(rater, unit, ms, repeat) for pk, rater, unit, ms, repeat in rows}

    # What systems' texts were said to be

    @cached_property
    def _ratings(self) -> list[tuple[AnswerRead, TextRead, str, str | None, int]]:
        """(answer, text, criterion, value or None, place), checks among them."""
        rows = models.Rating.objects.filter(answer__in=counted(self.round).order_by().values("pk")).order_by("pk")
        return [
            (self.answers[answer], self.texts[text], criterion, None if na else value, place)
            for answer, text, criterion, value, na, place in rows.values_list(
                "answer", "text", "criterion", "value", "is_na", "place"
            )
        ]

    @cached_property
    def judgements(self) -> list[Judgement]:
        """A row for each system that wrote a text, with what is derived; degraded texts are left out."""
        time = self._time()
        made = []
        for answer, text, criterion, value, place in self._ratings:
            source = self.sources[text.source]
            ms = time[answer.rater, text.source, answer.repeat]
            made += [
                Judgement(source.key, system, answer.rater, criterion, value, place, ms, answer.repeat, source.item)
                for system in text.systems
            ]
        return made + self.derived(made)

    def _time(self) -> Mapping[tuple[str, int, int], int]:
        """(rater, source, repeat) -> active time on all its pages: where each text has its own, they are as one."""
        seen = {
            (answer.unit, answer.rater, text.source, answer.repeat): answer.ms for answer, text, *_ in self._ratings
        }
        total: dict[tuple[str, int, int], int] = defaultdict(int)
        for (_, rater, source, repeat), ms in seen.items():
            total[rater, source, repeat] += ms
        return total

    def derived(self, asked: list[Judgement]) -> list[Judgement]:
        """M3's figures, where the protocol has its criteria; of blind labels where there is gold."""
        if not self.derives:
            return []
        if not self.is_blind:
            return m3.derived(asked)
        gold = {(s.key, s.item): s.gold for s in self.sources.values() if s.gold}
        return m3.derived([each for each in asked if (each.source, each.item) in gold], gold)

    @cached_property
    def preferences(self) -> list[Preference]:
        """A row for each pair of systems whose texts were compared; pairs with a degraded text are left out."""
        made = []
        for answer, left, right, criterion, choice in self._preferred:
            source = self.sources[left.source]
            made += [
                Preference(source.key, one, other, answer.rater, criterion, choice, 0, answer.ms, answer.repeat,
                           source.item)
                for one in left.systems for other in right.systems
            ]  # fmt: skip
        return made

    @cached_property
    def _preferred(self) -> list[tuple[AnswerRead, TextRead, TextRead, str, Any]]:
        rows = models.Preference.objects.filter(answer__in=counted(self.round).order_by().values("pk")).order_by("pk")
        return [
            (self.answers[answer], self.texts[left], self.texts[right], criterion, choice)
            for answer, left, right, criterion, choice in rows.values_list(
                "answer", "left", "right", "criterion", "choice"
            )
        ]

    # Attention

    @cached_property
    def checks(self) -> dict[str, tuple[int, int]]:
        """Rater -> checks (missed, had). A degraded text whose good one the rater was not given is none."""
        found: dict[str, list[bool]] = defaultdict(list)
        for rater, missed in (*self._checked_texts(), *self._checked_pairs()):
            found[rater].append(missed)
        return {rater: (sum(missed), len(missed)) for rater, missed in sorted(found.items())}

    def _checked_texts(self) -> Iterator[tuple[str, bool]]:
        said: dict[tuple[str, int, str, int], dict[str, str | None]] = defaultdict(dict)
        bad: dict[tuple[str, int, str, int], str] = {}
        for answer, text, criterion, value, _ in self._ratings:
            key = answer.rater, text.source, text.code, answer.repeat
            said[key][criterion] = value
            if text.is_check:
                bad[key] = text.made_from
        for key, made_from in bad.items():
            rater, source, _, repeat = key
            if good := said.get((rater, source, made_from, repeat)):
                yield rater, check_failed(good, said[key], self.criteria)

    def _checked_pairs(self) -> Iterator[tuple[str, bool]]:
        """A pair is missed where by no criterion the good text is preferred."""
        noticed: dict[tuple[str, int, int], bool] = defaultdict(bool)
        for answer, left, right, _, choice in self._preferred:
            if left.is_check or right.is_check:
                noticed[answer.rater, answer.unit, answer.repeat] |= choice == ("right" if left.is_check else "left")
        for (rater, *_), seen in noticed.items():
            yield rater, not seen

    # Metrics

    def scorings(self) -> list[Scoring]:
        """What metrics said last of the runs that take part."""
        runs = Entrant.objects.filter(design=self.design, run__isnull=False).values("run")
        return list(Scoring.objects.shown().filter(run__in=runs).order_by("pk"))

    def scores(self, scorings: list[Scoring]) -> dict[str, dict[tuple[Any, Any, str], float | None]]:
        """Metric and figure in words -> (source, item, system) -> what it gave the summary, against the target that
        raters held it against or, of what has none, against its own."""
        label = {
            (scoring.pk, figure.key): f"{metrics.get(scoring.metric).name}: {figure.label}"
            for scoring in scorings for figure in metrics.get(scoring.metric).figures
        }  # fmt: skip
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
        """Summary -> (source, system)."""
        rows = models.PageTextOf.objects.filter(entrant__design=self.design, summary__isnull=False)
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for summary, number, name in rows.values_list("summary", "text__page__source__number", "entrant__name"):
            found[summary].append((number, name))
        return found

    @cached_property
    def reference(self) -> str:
        """What the reference summaries are called, where they take part."""
        return Entrant.objects.filter(design=self.design, run=None).values_list("name", flat=True).first() or ""
