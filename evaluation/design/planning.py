"""Plan the pages of a rating round, and normalise the form of its texts.

Normalised texts do not reveal a system by its typography. The original text is stored beside the normalised one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from math import comb
from typing import Any

from evaluation.design.sources import PlannedSource, sources_of
from generation.models import Summary
from generation.sources import keys_of
from measures import design
from measures.sampling import Seed, order_key
from projects.models import Project

from ..protocols.parts import Content
from . import writers
from .systems import PlannedSystem

#: Sentence separators that some models write.
_BREAKS = re.compile(r"\s*<\s*(?:n|q|/s|s|pad|unk|sep)\s*>\s*", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_BEFORE = re.compile(r"\s+([,.;:!?%)\]}»\u201d\u2019])")
_AFTER = re.compile(r"([(\[{«\u201c\u2018])\s+")
#: Apostrophes and hyphens that tokenisers separate by spaces: "patient 's", "long - term".
_APART = re.compile(r"(?<=\w)\s+('s|'t|'re|'ve|'ll|'d|'m|n't)\b")
_HYPHEN = re.compile(r"(?<=\w)\s+-\s+(?=\w)")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2019": "'", "\u2018": "'", "`": "'", "\u00a0": " "})
#: Start of a sentence. Excludes text after a single letter ("H. pylori") or after an abbreviation ("e.g.").
_STARTS = re.compile(r"(?:^|(?<=[\w)\]%\"]{2}[.!?])\s+)([a-zà-öø-ÿ])")
_SHORT = re.compile(r"(?:\b(?:vs|al|fig|no|ca|cf|approx|dr|st|incl|resp)\.)\s+$", re.IGNORECASE)
#: A system counts as writing without capitals if at least this share of its texts has none.
MOSTLY = 0.9


def writes_without_capitals(texts: Sequence[str]) -> bool:
    """Whether almost none of a system's texts contains a capital letter."""
    lowered = sum(text == text.lower() for text in texts)
    return bool(texts) and lowered >= MOSTLY * len(texts)


def lowers(by_system: Iterable[Sequence[str]]) -> bool:
    """Whether a round shows its texts without capitals inside sentences, because one system writes that way."""
    return any(writes_without_capitals(texts) for texts in by_system)


def one_form(text: str, *, lowered: bool) -> str:
    """Return a text in the form that raters see.

    Spaces, quotation marks and sentence separators are normalised. With ``lowered``, only the first letter of a
    sentence is a capital. Idempotent.
    """
    text = _BREAKS.sub(" ", text).translate(_QUOTES)
    text = _SPACES.sub(" ", text).strip()
    text = _APART.sub(r"\1", _AFTER.sub(r"\1", _BEFORE.sub(r"\1", text)))
    text = _HYPHEN.sub("-", text)
    if lowered:
        text = text.lower()
    return _STARTS.sub(_begun, text)


def _begun(found: re.Match[str]) -> str:
    """Return the match with the first letter of the sentence as a capital."""
    if _SHORT.search(found.string, 0, found.start(1)):
        return found.group(0)
    return found.group(0)[:-1] + found.group(1).upper()


#: Option of a round: percentage of pages that get an attention check, a page with a degraded text.
CHECKS = "checks"
PAIRS = "pairs_a_source"
TUPLES = "tuples_a_source"
#: Key of the compared systems in a plan. The digest covers it, so it keeps its first name.
SYSTEMS = "entrants"


@dataclass(frozen=True)
class PlannedText:
    """One text of a page.

    ``of`` maps the number of a compared system to the summary id and the original text. The summary id of a reference
    is None.
    """

    code: str
    displayed_text: str
    of: Mapping[int, tuple[int | None, str]]
    #: On an attention check's page: code of the original text. An unchanged text has its own code here.
    made_from: str = ""

    @property
    def is_check(self) -> bool:
        return bool(self.made_from)


@dataclass(frozen=True)
class PlannedPage:
    """A planned page.

    ``source`` is the index of its source. ``number`` determines the order of its texts. Pages with the same ``group``
    are shown together: a list of pages with one text each, the pairs of a source, or all pages.
    """

    source: int
    number: int
    texts: Sequence[PlannedText]
    group: int = 0

    @property
    def is_check(self) -> bool:
        return any(text.is_check for text in self.texts)


@dataclass
class Planned:
    """The design of a round.

    ``pages`` is ordered by number, with the pages of attention checks last. ``walk`` is the order in which pages are
    shown, as indices of ``pages``. ``left_out`` counts chosen sources that lack a text of a compared system. ``alike``
    counts pairs and tuples with equal texts, which are not compared.
    """

    content: Content
    seed: int
    systems: Sequence[PlannedSystem]
    sources: Sequence[PlannedSource]
    lowered: bool
    left_out: int
    pages: list[PlannedPage] = field(default_factory=list)
    walk: list[int] = field(default_factory=list)
    alike: int = 0
    #: Drawn when the design is stored. Empty in a preview.
    secret: str = ""
    #: Keys of units that are stored together with the plan, by id.
    new_units: dict[int, str] = field(default_factory=dict)

    @property
    def drawn(self) -> Seed:
        return drawn_by(self.seed, self.secret)

    @property
    def pairs(self) -> bool:
        return self.content.kind == "compare"

    @property
    def tuples(self) -> bool:
        return self.content.kind == "best_worst"

    @property
    def order(self) -> Sequence[int]:
        """Indices of ``pages`` in the order in which they are shown. Without a ``walk``, the order of their numbers."""
        return self.walk or range(len(self.pages))

    @property
    def in_lists(self) -> bool:
        """Whether each page has one text."""
        return self.content.texts_per_page == "one" and not self.pairs

    def as_json(self) -> dict[str, Any]:
        keys = keys_of([s.unit for s in self.sources] + [s.target for s in self.sources if s.target]) | self.new_units
        return {
            "algorithm": design.ALGORITHM,
            "kind": self.content.kind,
            "texts_per_page": self.content.texts_per_page,
            "seed": self.seed,
            "lowered": self.lowered,
            "left_out": self.left_out,
            "alike": self.alike,
            SYSTEMS: systems_as_json(self.systems),
            "sources": [[keys[s.unit], keys.get(s.target or 0)] for s in self.sources],
            "pages": [[page.source, [[t.code, sorted(t.of), t.is_check] for t in page.texts]] for page in self.pages],
            "groups": [page.group for page in self.pages],
            "walk": list(self.order),
            "texts": digest_of_texts(
                (t.displayed_text, [t.of[number][1] for number in sorted(t.of)])
                for page in self.pages
                for t in page.texts
            ),
        }

    def balance(self, people: int) -> dict[str, Any]:
        """Return how often each system has each position and follows each other system.

        For pairs, the result counts the sides. For lists, it counts which system follows which on the next page.
        Without a secret the result is an example. The figures under ``certain`` hold for any secret.
        """
        names = [one.name for one in self.systems]
        if self.pairs:
            pairs = [
                design.Paired(str(page.source), *(names[min(text.of)] for text in page.texts))
                for page in self.pages
                if not page.is_check
            ]
            return design.pair_balance(pairs, people) | {"certain": self._certain_sides(len(pairs), people)}
        if self.tuples:
            pages = [[names[min(text.of)] for text in page.texts] for page in self.pages if not page.is_check]
            orders = (design.seen_at(page, number) for page in pages for number in range(people))
            return design.balance(orders) | {"certain": self._certain_places(len(pages), people)}
        if self.in_lists:
            lists: dict[int, list[str]] = {}
            for page in (self.pages[n] for n in self.order):
                if not page.is_check:
                    lists.setdefault(page.group, []).append(names[min(page.texts[0].of)])
            return design.carry_over(lists.values()) | {"certain": None}
        # Skip sources with identical texts: one position would belong to several systems.
        whole = [page for page in self.pages if sum(not text.is_check for text in page.texts) == len(names)]
        least, most = design.position_bounds(len(names), (page.number for page in whole), people)
        numbers = list(map(str, range(len(names))))
        return design.balance(
            [names[int(each)] for each in design.order_of_page(numbers, page.number, number, 0, self.drawn)]
            for page in whole
            for number in range(people)
        ) | {"certain": {"least": least, "most": most} if whole else None}

    def _certain_sides(self, pairs: int, people: int) -> dict[str, int] | None:
        """Return the exact number of times that each system is shown on each side, or None if it varies.

        It is exact if every pair of each source is rated by an even number of people. Each system is then on the left
        in half of its pairs.
        """
        m = len(self.systems)
        if people % 2 or pairs != len(self.sources) * m * (m - 1) // 2:
            return None
        each = len(self.sources) * (m - 1) * people // 2
        return {"least": each, "most": each}

    def _certain_places(self, tuples: int, people: int) -> dict[str, int] | None:
        """Return the bounds on how often each system is at each place, or None if tuples with equal texts are left out.

        Every four people see each text of a tuple at each place once.
        """
        if self.alike:
            return None
        least, more = divmod(tuples * design.SIZE, len(self.systems))
        rounds, rest = divmod(people, design.SIZE)
        most = least + bool(more)
        return {
            "least": rounds * least + rest * (least // design.SIZE),
            "most": rounds * most + rest * -(-most // design.SIZE),
        }


def systems_as_json(compared_systems: Sequence[PlannedSystem]) -> list[dict[str, Any]]:
    return [{"name": one.name, "version": one.run.version.hash if one.run else None} for one in compared_systems]


def digest_of_texts(texts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return the SHA-256 (hex) of all texts, page by page: as displayed, and as each system wrote them."""
    found = sha256()
    for displayed, exact in texts:
        found.update(json.dumps([displayed, list(exact)], ensure_ascii=False).encode() + b"\n")
    return found.hexdigest()


def drawn_by(seed: int, secret: str) -> Seed:
    """Return the seed of all draws that could reveal which system wrote a text.

    A lead who also rates knows the seed, but nobody knows the secret. Older rounds have no secret and use the seed
    alone.
    """
    return f"{seed}/{secret}" if secret else seed


def planned(
    project: Project,
    units: Sequence[int],
    content: Content,
    compared_systems: Sequence[PlannedSystem],
    options: Mapping[str, Any],
    seed: int,
    secret: str = "",
    *,
    lowered: bool | None = None,
) -> Planned:
    """Return the plan of a round over these source units, in the given order. Runs a fixed number of queries.

    ``lowered``: whether texts have capitals at the start of sentences only; by default decided from the texts.
    """
    level = next(one.level for one in compared_systems if one.level)
    of_passages = level in writers.LEVELS
    sources = writers.sources_of(units) if of_passages else sources_of(project, level, units, content)
    written = [_written(one, sources) for one in compared_systems]
    complete = [
        s for s in sources if all(text.strip() for texts in written for _, text in [texts.get(s.unit, (None, ""))])
    ]
    if lowered is None:
        lowered = lowers([text for _, text in texts.values()] for texts in written)
    plan = Planned(
        content,
        seed,
        compared_systems,
        complete,
        lowered,
        len(set(units)) - len({s.unit for s in complete}),
        secret=secret,
    )
    if not options.get("one_form", True):
        form: Any = str
    else:
        form = lambda text: one_form(text, lowered=lowered)  # noqa: E731 - one of two ways
    by_source = [{n: (texts[s.unit], form(texts[s.unit][1])) for n, texts in enumerate(written)} for s in complete]
    if plan.pairs:
        _lay_out_pairs(plan, by_source, options)
    elif plan.tuples:
        _lay_out_tuples(plan, by_source, options)
    elif plan.in_lists:
        _lay_out_lists(plan, by_source)
    else:
        for at, texts in enumerate(by_source):
            plan.pages.append(PlannedPage(at, at, _merged(plan, at, texts)))
    _add_checks(plan, int(options.get(CHECKS) or 0) / 100)
    return plan


#: Number of a compared system -> ((summary id, original text), displayed text).
_Texts = Mapping[int, tuple[tuple[int | None, str], str]]


def _written(one: PlannedSystem, sources: Sequence[PlannedSource]) -> dict[int, tuple[int | None, str]]:
    """Return what a system wrote for each source unit, with the summary id."""
    if one.writer:
        return {unit: (None, text) for unit, text in one.writer.texts(s.unit for s in sources).items()}
    if one.run is None:
        return {s.unit: (None, s.reference) for s in sources}
    rows = Summary.objects.filter(item__run=one.run, item__unit__in={s.unit for s in sources})
    return {unit: (pk, text) for pk, unit, text in rows.values_list("pk", "item__unit", "text")}


def _code(plan: Planned, source: int, displayed: str, more: str = "") -> str:
    unit = f"{plan.sources[source].unit}/{plan.sources[source].target}"
    return sha256(f"{plan.drawn}/{unit}/{more}/{displayed}".encode()).hexdigest()[:8]


def _merged(plan: Planned, source: int, texts: _Texts) -> list[PlannedText]:
    """Return the distinct texts of a source, ordered by code. This order reveals nothing about the systems."""
    found: dict[str, dict[int, tuple[int | None, str]]] = {}
    for number, (written, displayed) in texts.items():
        found.setdefault(displayed, {})[number] = written
    made = [PlannedText(_code(plan, source, displayed), displayed, of) for displayed, of in found.items()]
    return sorted(made, key=lambda text: text.code)


def _lay_out_lists(plan: Planned, by_source: Sequence[_Texts]) -> None:
    """Plan a page for each text, list by list."""
    numbers = list(range(len(plan.systems)))
    had: set[tuple[int, str]] = set()
    for g, one in enumerate(design.latin_lists(range(len(by_source)), numbers, plan.drawn)):
        for source, number in one.items():
            displayed = by_source[source][number][1]
            if (source, displayed) in had:
                continue  # rated once, for all systems that wrote it
            had.add((source, displayed))
            of = {n: written for n, (written, same) in by_source[source].items() if same == displayed}
            text = PlannedText(_code(plan, source, displayed), displayed, of)
            plan.pages.append(PlannedPage(source, len(plan.pages), [text], g))


def _lay_out_pairs(plan: Planned, by_source: Sequence[_Texts], options: Mapping[str, Any]) -> None:
    numbers = [str(n) for n in range(len(plan.systems))]
    each = options.get(PAIRS) or None
    most = len(numbers) * (len(numbers) - 1) // 2
    places = {str(at): at for at in range(len(by_source))}
    pairs = design.balanced_pairs(list(places), numbers, plan.drawn, each=min(each, most) if each else None)
    # Keep pairs of one source together, and sources in the chosen order.
    for pair in sorted(pairs, key=lambda pair: places[pair.source]):
        source = places[pair.source]
        left, right = by_source[source][int(pair.left)], by_source[source][int(pair.right)]
        if left[1] == right[1]:
            plan.alike += 1
            continue
        texts = [
            PlannedText(_code(plan, source, side[1]), side[1], {int(number): side[0]})
            for number, side in ((pair.left, left), (pair.right, right))
        ]
        plan.pages.append(PlannedPage(source, len(plan.pages), texts, source))


def _lay_out_tuples(plan: Planned, by_source: Sequence[_Texts], options: Mapping[str, Any]) -> None:
    numbers = [str(n) for n in range(len(plan.systems))]
    each = options.get(TUPLES) or design.fewest_tuples(len(numbers))
    places = {str(at): at for at in range(len(by_source))}
    tuples = design.balanced_tuples(list(places), numbers, plan.drawn, each=min(each, comb(len(numbers), design.SIZE)))
    for one in sorted(tuples, key=lambda one: places[one.source]):
        source = places[one.source]
        shown = [(int(number), *by_source[source][int(number)]) for number in one.systems]
        if len({displayed for *_, displayed in shown}) < len(shown):
            plan.alike += 1
            continue
        texts = [
            PlannedText(_code(plan, source, displayed), displayed, {number: written})
            for number, written, displayed in shown
        ]
        plan.pages.append(PlannedPage(source, len(plan.pages), texts, source))


def _add_checks(plan: Planned, share: float) -> None:
    """Add a page for each attention check, and set the order of all pages.

    A check repeats another page with one text degraded, so it has the usual number of texts for its source. The check
    of a page with one text consists of the degraded text alone. The seed draws the check's position among the pages of
    the same group.
    """
    walk = [page.number for page in plan.pages]
    by_page = {str(page.number): [min(text.of) for text in page.texts] for page in plan.pages}
    for check in design.checks(by_page, share, plan.drawn):
        page = plan.pages[int(check.page)]
        text = next(text for text in page.texts if min(text.of) == check.system)
        others = islice((t.displayed_text for p in plan.pages if p.source != page.source for t in p.texts), 50)
        bad = _worse(plan, page, text, list(others))
        if plan.pairs:
            texts = shuffled_texts([text, bad], f"{plan.drawn}/sides/{page.number}")
        else:
            same = [replace(t, of={}, made_from=t.code) for t in page.texts if t.code != text.code]
            texts = sorted([*same, bad], key=lambda t: t.code)
            if plan.tuples:
                texts = shuffled_texts(texts, f"{plan.drawn}/places/{page.number}")
        positions = [n for n, number in enumerate(walk) if plan.pages[number].group == page.group]
        place = design.drawn_number(plan.drawn, f"check page:{page.number}") % (len(positions) + 1)
        walk.insert(positions[0] + place, len(plan.pages))
        plan.pages.append(PlannedPage(page.source, len(plan.pages), texts, page.group))
    plan.walk = walk


def _worse(plan: Planned, page: PlannedPage, text: PlannedText, others: Sequence[str]) -> PlannedText:
    displayed = one_form(
        design.degraded(text.displayed_text, others, f"{plan.drawn}/{text.code}"), lowered=plan.lowered
    )
    return PlannedText(_code(plan, page.source, displayed, "check"), displayed, {}, text.code)


def in_order(texts: Iterable[Any], *, kind: str, page: int, number: int, repeat: int, seed: Seed) -> list[Any]:
    """Return the texts of a page in the order of an assignment.

    Each text has the attributes ``code``, ``number``, ``system_numbers`` and ``is_check``. ``number`` counts the page's
    assignments from 1. ``kind`` is that of the protocol. Curators see the order of the first assignment.
    """
    by_number = sorted(texts, key=lambda text: text.number)
    place = max(number, 1) - 1
    if kind == "best_worst":
        return design.seen_at(by_number, place, repeat)
    if kind == "compare":
        return by_number[::-1] if (place + repeat) % 2 else by_number
    of = {str(number): text for text in by_number for number in text.system_numbers}
    if not of:
        return shuffled_texts(by_number, f"{seed}:check page:{page}:{place}:{repeat}")
    found = list(dict.fromkeys(of[name] for name in design.order_of_page(list(of), page, place, repeat, seed)))
    # Rounds planned by the first version of the rules have attention checks among the texts of other pages.
    for bad in (text for text in by_number if text.is_check):
        found = design.with_check(found, bad, page, place, repeat, seed)
    return found


def shuffled_texts(texts: Iterable[Any], seed: Seed) -> list[Any]:
    """Return texts in an order that the seed draws from their codes."""
    return sorted(texts, key=lambda text: order_key(seed, text.code))
