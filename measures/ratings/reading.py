"""A round's answers as judgements and preferences of its systems, wherever they are read from: the data base, or the
files of a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from measures.ratings import m3
from measures.ratings.confusion import STANDARD, direction_figures
from measures.ratings.exclusions import Exclusions, check_failed
from measures.ratings.figures import with_and_without
from measures.ratings.judgements import Choice, Criterion, Judgement, Preference
from measures.ratings.meaning import meanings, scale_of

Json = dict[str, Any]


@dataclass(frozen=True)
class SourceNamed:
    """A source as figures name it: items of one review are alike, so it is the review that intervals are over.
    ``target``: what its texts are held against; ``gold``: that target's labels."""

    key: str
    item: str
    target: Hashable
    gold: Mapping[str, str]

    @classmethod
    def of(cls, *, unit: str, target: str | None, review: str, number: Hashable, gold: Any) -> SourceNamed:
        """The target's key is part of the item where a unit has several."""
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
    """A text of a page. ``systems``: who wrote it, by name; none of a check."""

    source: int
    code: str
    systems: tuple[str, ...]
    is_check: bool
    made_from: str


#: (answer, text, criterion, value or None, place), checks among them.
Rated = tuple[AnswerRead, TextRead, str, str | None, int]
#: (answer, text on the left, on the right, criterion, choice), checks among them.
Preferred = tuple[AnswerRead, TextRead, TextRead, str, Choice]


class Reading:
    """What was said in a round. A subclass reads ``sources`` by number, what was ``rated`` and ``preferred``, and what
    the ``reference`` is called; ``written`` is the protocol's content as JSON."""

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
        """`REFERENCE` where the reference summaries take part; "" elsewhere. What an import calls so are these, too: of
        its other systems none has a run either, and none is the reference."""
        raise NotImplementedError

    @property
    def rules(self) -> Exclusions:
        """What the round declared before it was opened."""
        raise NotImplementedError

    def figures(self, **others: Any) -> Json:
        """`with_and_without`, checks, and what papers print of some protocols (M3's claims without a polarity, MS^2's
        directions)."""
        made = with_and_without(
            self.judgements, self.criteria, self.rules, self.checks, preferences=self.preferences, **others
        )
        return made | {
            "checks": [{"rater": rater, "failed": n, "had": had} for rater, (n, had) in self.checks.items()],
            "m3": m3.mismatches(self.judgements) if self.derives else None,
            "not_compared": self.not_compared(),
            "directions": self._directions(),
        }

    @cached_property
    def criteria(self) -> list[Criterion]:
        """Those that figures are taken of: what was asked, free text left out, then what is derived."""
        asked = [
            Criterion.of(each)
            for each in self.written["criteria"]
            if each["scale"]["type"] not in ("text", "preference")
        ]
        return asked + (list(m3.CRITERIA) if self.derives else [])

    @cached_property
    def is_blind(self) -> bool:
        """Whether polarity and modality are labels of the text, to be held against the target's."""
        return bool(self.written["derives"] == m3.DERIVES)

    @cached_property
    def derives(self) -> bool:
        """Whether M3's tables can be made of it."""
        values = {each["key"]: [o["value"] for o in each["scale"]["options"]] for each in self.written["criteria"]}
        asks = {*m3.SLOTS, m3.POLARITY, m3.MODALITY} <= values.keys()
        return self.is_blind or (asks and m3.SAME in values[m3.MODALITY])

    def _meant(self, criterion: Json) -> dict[str, str]:
        """By value of an option, what it means on the scale that it is held against."""
        options = criterion["scale"]["options"] if criterion["scale"]["type"] == "categorical" else []
        scale = scale_of(self.written["derives"], criterion["key"], criterion["standard"])
        return meanings(((each["value"], each.get("means", "")) for each in options), scale)

    # What systems' texts were said to be

    @cached_property
    def judgements(self) -> list[Judgement]:
        """A row for each system that wrote a text, with what is derived; degraded texts are left out."""
        time = _time(self.rated)
        made = []
        for answer, text, criterion, value, place in self.rated:
            source = self.sources[text.source]
            ms = time[answer.rater, text.source, answer.repeat]
            made += [
                Judgement(source.key, system, answer.rater, criterion, value, place, ms, answer.repeat, source.item)
                for system in text.systems
            ]
        return made + self._derived(made)

    def _derived(self, asked: list[Judgement]) -> list[Judgement]:
        """M3's figures, where the protocol has its criteria; of blind labels where there is gold."""
        if not self.derives:
            return []
        return m3.derived(self._known(asked), self._gold, self._labels) if self.is_blind else m3.derived(asked)

    @cached_property
    def _gold(self) -> m3.Gold:
        return {(s.key, s.item): s.gold for s in self.sources.values() if s.gold}

    @cached_property
    def _labels(self) -> m3.Meant:
        """What labels of the texts mean on the scale of the target's."""
        asked = {each["key"]: self._meant(each) for each in self.written["criteria"]}
        return {key: asked.get(key, {}) for key in m3.GOLD_SCALES}

    def _known(self, judgements: Iterable[Judgement]) -> list[Judgement]:
        """Those of sources whose target is known."""
        return [each for each in judgements if (each.source, each.item) in self._gold]

    def not_compared(self) -> list[Json]:
        """Blind labels that say nothing of the target's: what they are, and how many."""
        return m3.not_compared(self._known(self.judgements), self._gold, self._labels) if self.is_blind else []

    def _directions(self) -> list[Json]:
        """Of each criterion that judges the direction: every system against the references, which took part."""
        if not self.reference:
            return []
        return [
            {
                "criterion": each["key"],
                "systems": direction_figures(
                    self.judgements, each["key"], self.reference,
                    [option["value"] for option in each["scale"]["options"]], self._meant(each),
                ),
            }
            for each in self.written["criteria"]
            if each["standard"] == STANDARD and each["scale"]["type"] == "categorical"
            # What the target says is no matter of the text beside it.
            and each["frame"] != "target"
        ]  # fmt: skip

    @cached_property
    def preferences(self) -> list[Preference]:
        """A row for each pair of systems whose texts were compared; pairs with a degraded text are left out."""
        made = []
        for answer, left, right, criterion, choice in self.preferred:
            source = self.sources[left.source]
            made += [
                Preference(source.key, one, other, answer.rater, criterion, choice, 0, answer.ms, answer.repeat,
                           source.item)
                for one in left.systems for other in right.systems
            ]  # fmt: skip
        return made

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
        for answer, text, criterion, value, _ in self.rated:
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
        noticed: dict[tuple[str, Hashable, int], bool] = defaultdict(bool)
        for answer, left, right, _, choice in self.preferred:
            if left.is_check or right.is_check:
                noticed[answer.rater, answer.unit, answer.repeat] |= choice == ("right" if left.is_check else "left")
        for (rater, *_), seen in noticed.items():
            yield rater, not seen


def _time(rated: Iterable[Rated]) -> Mapping[tuple[str, int, int], int]:
    """(rater, source, repeat) -> active time on all its pages: where each text has its own, they are as one."""
    seen = {(answer.unit, answer.rater, text.source, answer.repeat): answer.ms for answer, text, *_ in rated}
    total: dict[tuple[str, int, int], int] = defaultdict(int)
    for (_, rater, source, repeat), ms in seen.items():
        total[rater, source, repeat] += ms
    return total
