"""Read a round's answers as judgements and preferences, from the database or from the files of a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from measures.ratings import m3
from measures.ratings.confusion import STANDARD, direction_figures
from measures.ratings.figures import with_and_without
from measures.ratings.judgements import BEST, WORST, BestWorst, Choice, Criterion, Judgement, Preference

from .m3 import meanings, scale_of
from .raters import Exclusions, check_failed

Json = dict[str, Any]


@dataclass(frozen=True)
class SourceNamed:
    """A source with the names that figures use.

    ``key`` is the review, because items of one review are correlated and intervals are over reviews. ``target``
    identifies the target of its texts, and ``gold`` holds that target's labels.
    """

    key: str
    item: str
    target: Hashable
    gold: Mapping[str, str]

    @classmethod
    def of(cls, *, unit: str, target: str | None, review: str, number: Hashable, gold: Any) -> SourceNamed:
        """Return the named source. The item contains the target's key if it differs from the unit's."""
        item = f"{unit} {target}" if target and target != unit else unit
        return cls(review or unit, item, number, gold or {})


@dataclass(frozen=True)
class AnswerRead:
    rater: str
    unit: Hashable
    ms: int
    repeat: int


@dataclass(frozen=True)
class TextRead:
    """A text of a page. ``systems`` are the names of its systems, empty on the page of an attention check."""

    source: int
    code: str
    systems: tuple[str, ...]
    is_check: bool
    made_from: str

    @property
    def is_unchanged(self) -> bool:
        """Whether the text is an unchanged text on the page of an attention check."""
        return self.is_check and self.made_from == self.code


#: (answer, text, criterion, value or None, position), including attention checks.
Rated = tuple[AnswerRead, TextRead, str, str | None, int]
#: (answer, left text, right text, criterion, choice), including attention checks.
Preferred = tuple[AnswerRead, TextRead, TextRead, str, Choice]


class Reading:
    """The ratings of a round.

    A subclass provides ``sources`` by number, ``rated``, ``preferred`` and ``reference``. ``written`` is the protocol's
    content as JSON.
    """

    written: Json

    @cached_property
    def sources(self) -> Mapping[int, SourceNamed]:
        raise NotImplementedError

    @cached_property
    def rated(self) -> Sequence[Rated]:
        raise NotImplementedError

    @cached_property
    def preferred(self) -> Sequence[Preferred]:
        raise NotImplementedError

    @cached_property
    def reference(self) -> str:
        """`REFERENCE` if the reference summaries are compared, else "".

        An imported system of this name counts as the references. Other imported systems without a run do not.
        """
        raise NotImplementedError

    @property
    def rules(self) -> Exclusions:
        """The exclusions that the round declared before it was opened."""
        raise NotImplementedError

    def figures(self, **others: Any) -> Json:
        """Return `with_and_without`, the checks, and figures of specific protocols.

        The latter are M3's mismatches and MS^2's directions.
        """
        result = with_and_without(
            self.judgements,
            self.criteria,
            self.rules,
            self.checks,
            preferences=self.preferences,
            best_worst=self.best_worst,
            **others,
        )
        return result | {
            "checks": [{"rater": rater, "failed": n, "had": had} for rater, (n, had) in self.checks.items()],
            "m3": m3.mismatches(self.judgements) if self.derives else None,
            "not_compared": self.not_compared(),
            "directions": self._directions(),
        }

    @cached_property
    def criteria(self) -> list[Criterion]:
        """The criteria with figures: the asked ones except free text, then the derived ones."""
        declared = [
            Criterion.of(each)
            for each in self.written["criteria"]
            if each["scale"]["type"] not in ("text", "preference")
        ]
        return declared + (list(m3.CRITERIA) if self.derives else [])

    @cached_property
    def is_blind(self) -> bool:
        """Whether polarity and modality are labels of the text that are compared with the target's labels."""
        return bool(self.written["derives"] == m3.DERIVES)

    @cached_property
    def derives(self) -> bool:
        """Whether M3's tables can be derived from the protocol."""
        values = {each["key"]: [o["value"] for o in each["scale"]["options"]] for each in self.written["criteria"]}
        asks = {*m3.SLOTS, m3.POLARITY, m3.MODALITY} <= values.keys()
        return self.is_blind or (asks and m3.SAME in values[m3.MODALITY])

    def _meant(self, criterion: Json) -> dict[str, str]:
        """Return the meaning of each option on the scale that the criterion is compared with."""
        options = criterion["scale"]["options"] if criterion["scale"]["type"] == "categorical" else []
        scale = scale_of(self.written["derives"], criterion["key"], criterion["standard"])
        return meanings(((each["value"], each.get("means", "")) for each in options), scale)

    # Judgements

    @cached_property
    def judgements(self) -> list[Judgement]:
        """One judgement per system that wrote a text, including derived ones. Degraded texts are left out."""
        time = _time(self.rated)
        judgements = []
        for answer, text, criterion, value, position in self.rated:
            source = self.sources[text.source]
            if (criterion, value) in self._off_scale:
                value = None
            ms = time[answer.rater, text.source, answer.repeat]
            judgements += [
                Judgement(
                    source.key,
                    system,
                    answer.rater,
                    criterion,
                    value,
                    position,
                    ms,
                    answer.repeat,
                    source.item,
                    text.code,
                )
                for system in text.systems
            ]
        return judgements + self._derived(judgements)

    @cached_property
    def _off_scale(self) -> set[tuple[str, str | None]]:
        """Off-scale (criterion, value) pairs. They count as N/A in figures, and as categories in agreement."""
        return {
            (each["key"], option["value"])
            for each in self.written["criteria"]
            for option in each["scale"]["options"]
            if option.get("off_scale")
        }

    def _derived(self, judgements: list[Judgement]) -> list[Judgement]:
        """Return M3's derived judgements if the protocol has its criteria. Blind labels need gold."""
        if not self.derives:
            return []
        return (
            m3.derived(self._known(judgements), self._gold, self._labels) if self.is_blind else m3.derived(judgements)
        )

    @cached_property
    def _gold(self) -> m3.Gold:
        return {(s.key, s.item): s.gold for s in self.sources.values() if s.gold}

    @cached_property
    def _labels(self) -> m3.Meant:
        """Criterion -> meaning of its labels on the target's scale."""
        meaning_of = {each["key"]: self._meant(each) for each in self.written["criteria"]}
        return {key: meaning_of.get(key, {}) for key in m3.GOLD_SCALES}

    def _known(self, judgements: Iterable[Judgement]) -> list[Judgement]:
        """Return the judgements of sources whose target has gold."""
        return [each for each in judgements if (each.source, each.item) in self._gold]

    def not_compared(self) -> list[Json]:
        """Return the counts of blind labels that could not be compared with the target."""
        return m3.not_compared(self._known(self.judgements), self._gold, self._labels) if self.is_blind else []

    def _directions(self) -> list[Json]:
        """Compare every system with the references, for each criterion that judges the direction."""
        if not self.reference:
            return []
        return [
            {
                "criterion": each["key"],
                "systems": direction_figures(
                    self.judgements,
                    each["key"],
                    self.reference,
                    [o["value"] for o in each["scale"]["options"] if not o.get("off_scale")],
                    self._meant(each),
                ),
            }
            for each in self.written["criteria"]
            if each["standard"] == STANDARD
            and each["scale"]["type"] == "categorical"
            # A criterion about the target does not describe the text.
            and each["frame"] != "target"
        ]

    @cached_property
    def preferences(self) -> list[Preference]:
        """One preference per pair of systems whose texts were compared. Pairs with a degraded text are left out."""
        preferences = []
        for answer, left, right, criterion, choice in self.preferred:
            source = self.sources[left.source]
            preferences += [
                Preference(
                    source.key, one, other, answer.rater, criterion, choice, 0, answer.ms, answer.repeat, source.item
                )
                for one in left.systems
                for other in right.systems
            ]
        return preferences

    @cached_property
    def _best_worst_keys(self) -> frozenset[str]:
        return frozenset(each["key"] for each in self.written["criteria"] if each["scale"]["type"] == "best-worst")

    @cached_property
    def best_worst(self) -> list[BestWorst]:
        """One choice per answer and criterion. Pages with a degraded text are left out."""
        pages: dict[tuple[AnswerRead, str], list[tuple[TextRead, str | None]]] = defaultdict(list)
        for answer, text, criterion, value, _ in self.rated:
            if criterion in self._best_worst_keys and not text.is_check:
                pages[answer, criterion].append((text, value))
        choices = []
        for (answer, criterion), texts in pages.items():
            source = self.sources[texts[0][0].source]
            [best], [worst] = ([text for text, value in texts if value == chosen] for chosen in (BEST, WORST))
            choices.append(
                BestWorst(
                    source.key,
                    tuple(sorted(text.systems[0] for text, _ in texts)),
                    best.systems[0],
                    worst.systems[0],
                    answer.rater,
                    criterion,
                    answer.repeat,
                    source.item,
                )
            )
        return choices

    # Attention checks

    @cached_property
    def checks(self) -> dict[str, tuple[int, int]]:
        """Rater -> checks (missed, had). A degraded text without a text to compare it with is not counted."""
        results: dict[str, list[bool]] = defaultdict(list)
        for rater, missed in (*self._checked_texts(), *self._checked_pairs()):
            results[rater].append(missed)
        return {rater: (sum(missed), len(missed)) for rater, missed in sorted(results.items())}

    def _checked_texts(self) -> Iterator[tuple[str, bool]]:
        """Yield the rater of each degraded text, and whether the rater missed it.

        A degraded text in a tuple is missed if no criterion calls it the worst. Any other is compared with its
        original. If the rater did not rate the original, it is compared with the other texts of the check's page. It
        is then missed unless it is worse than at least half of them.
        """
        good: dict[tuple[str, int, str, int], dict[str, str | None]] = defaultdict(dict)
        bad: dict[tuple[str, int, str, int, Hashable], dict[str, str | None]] = defaultdict(dict)
        beside: dict[tuple[str, Hashable, int], dict[str, dict[str, str | None]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        for answer, text, criterion, value, _ in self.rated:
            if not text.is_check:
                good[answer.rater, text.source, text.code, answer.repeat][criterion] = value
            elif text.is_unchanged:
                beside[answer.rater, answer.unit, answer.repeat][text.code][criterion] = value
            else:
                bad[answer.rater, text.source, text.made_from, answer.repeat, answer.unit][criterion] = value
        for (rater, source, made_from, repeat, unit), degraded in bad.items():
            if self._best_worst_keys:
                yield rater, WORST not in degraded.values()
            elif compared := good.get((rater, source, made_from, repeat)):
                yield rater, check_failed(compared, degraded, self.criteria)
            elif others := beside.get((rater, unit, repeat)):
                missed = sum(check_failed(other, degraded, self.criteria) for other in others.values())
                yield rater, missed * 2 > len(others)

    def _checked_pairs(self) -> Iterator[tuple[str, bool]]:
        """Yield the rater of each checked pair, and whether it was missed: no criterion prefers the good text."""
        noticed: dict[tuple[str, Hashable, int], bool] = defaultdict(bool)
        for answer, left, right, _, choice in self.preferred:
            if left.is_check or right.is_check:
                noticed[answer.rater, answer.unit, answer.repeat] |= choice == ("right" if left.is_check else "left")
        for (rater, *_), seen in noticed.items():
            yield rater, not seen


def _time(rated: Iterable[Rated]) -> Mapping[tuple[str, int, int], int]:
    """Return (rater, source, repeat) -> active time on all pages of the source."""
    seen = {(answer.unit, answer.rater, text.source, answer.repeat): answer.ms for answer, text, *_ in rated}
    total: dict[tuple[str, int, int], int] = defaultdict(int)
    for (_, rater, source, repeat), ms in seen.items():
        total[rater, source, repeat] += ms
    return total
