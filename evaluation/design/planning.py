"""The plan of a rating round: sources, pages and texts, from the rows as they are and a seed. Writes nothing."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any

from generation.models import Summary
from generation.runs.sources import keys_of
from measures import design
from measures.sampling import Seed
from projects.models import Project

from ..protocols.parts import Content
from . import display
from .entrants import Taking
from .shown import PlannedSource, sources_of

#: Share of pages that get a text made worse, as a round's options have it in per cent.
CHECKS = "checks"
PAIRS = "pairs_a_source"


@dataclass(frozen=True)
class PlannedText:
    """One text of a page. ``of``: entrant number -> (summary id, None for a reference; what was written)."""

    code: str
    shown: str
    of: Mapping[int, tuple[int | None, str]]
    #: Code of the text that it was made from, where it is a check.
    made_from: str = ""

    @property
    def is_check(self) -> bool:
        return bool(self.made_from)


@dataclass(frozen=True)
class PlannedPage:
    """``source``: its index. ``number``: the page's place, by which the order of its texts is dealt."""

    source: int
    number: int
    texts: Sequence[PlannedText]


@dataclass
class Planned:
    """All of a round's design. ``left_out``: chosen sources of which an entrant has no text. ``alike``: pairs of texts
    that say the same, which nobody is asked to choose between."""

    content: Content
    seed: int
    taking: Sequence[Taking]
    sources: Sequence[PlannedSource]
    lowered: bool
    left_out: int
    pages: list[PlannedPage] = field(default_factory=list)
    alike: int = 0
    #: Drawn when the round is laid out; a plan that is only looked at has none.
    secret: str = ""

    @property
    def drawn(self) -> Seed:
        return drawn_by(self.seed, self.secret)

    @property
    def pairs(self) -> bool:
        return self.content.kind == "compare"

    def as_json(self) -> dict[str, Any]:
        keys = keys_of([s.unit for s in self.sources] + [s.target for s in self.sources if s.target])
        return {
            "kind": self.content.kind, "texts_per_page": self.content.texts_per_page, "seed": self.seed,
            "lowered": self.lowered, "left_out": self.left_out, "alike": self.alike,
            "entrants": [
                {"name": one.name, "version": one.run.version.hash if one.run else None} for one in self.taking
            ],
            "sources": [[keys[s.unit], keys.get(s.target or 0)] for s in self.sources],
            "pages": [
                [page.source, [[t.code, sorted(t.of), t.is_check] for t in page.texts]] for page in self.pages
            ],
            "texts": digest_of_texts(
                (t.shown, [t.of[number][1] for number in sorted(t.of)]) for page in self.pages for t in page.texts
            ),
        }  # fmt: skip

    def balance(self, people: int) -> dict[str, Any]:
        """How often each entrant comes at each place, and after which; of pairs how often on each side. As ``drawn``,
        which of a plan that is only looked at is an example: ``certain`` is what holds whatever a secret draws."""
        names = [one.name for one in self.taking]
        if self.pairs:
            shown = [
                design.Paired(str(page.source), *(names[min(text.of)] for text in page.texts))
                for page in self.pages if not any(text.is_check for text in page.texts)
            ]  # fmt: skip
            return design.pair_balance(shown, people) | {"certain": self._certain_sides(len(shown), people)}
        # What two wrote alike has one place for both, which is neither's.
        whole = [page for page in self.pages if sum(not text.is_check for text in page.texts) == len(names)]
        least, most = design.place_bounds(len(names), (page.number for page in whole), people)
        numbers = list(map(str, range(len(names))))
        return design.balance(
            [names[int(each)] for each in design.order_of_page(numbers, page.number, number, 0, self.drawn)]
            for page in whole
            for number in range(people)
        ) | {"certain": {"least": least, "most": most} if whole else None}

    def _certain_sides(self, pairs: int, people: int) -> dict[str, int] | None:
        """Where all pairs of each source are asked of an even number of people, a half of them has each side left."""
        taking = len(self.taking)
        if people % 2 or pairs != len(self.sources) * taking * (taking - 1) // 2:
            return None
        each = len(self.sources) * (taking - 1) * people // 2
        return {"least": each, "most": each}


def digest_of_texts(texts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """SHA-256, in hex, of texts as shown and as written by each entrant, page by page."""
    found = sha256()
    for shown, exact in texts:
        found.update(json.dumps([shown, list(exact)], ensure_ascii=False).encode() + b"\n")
    return found.hexdigest()


def drawn_by(seed: int, secret: str) -> Seed:
    """What everything of a round is drawn by that could tell whose a text is: a lead who rates has seen the seed, and
    nobody the secret. Rounds that were laid out before there were secrets have none, and go by their seed."""
    return f"{seed}/{secret}" if secret else seed


def planned(
    project: Project, units: Sequence[int], content: Content, taking: Sequence[Taking], options: Mapping[str, Any],
    seed: int, secret: str = "",
) -> Planned:  # fmt: skip
    """The plan of a round that asks about these source units, in their order. A fixed number of queries."""
    level = next(one.run.version.level for one in taking if one.run)
    sources = sources_of(project, level, units, content)
    written = [_written(one, sources) for one in taking]
    there = [
        s for s in sources if all(text.strip() for texts in written for _, text in [texts.get(s.unit, (None, ""))])
    ]
    lowered = display.lowers([text for _, text in texts.values()] for texts in written)
    plan = Planned(content, seed, taking, there, lowered, len(set(units)) - len({s.unit for s in there}), secret=secret)
    if not options.get("one_form", True):
        form: Any = str
    else:
        form = lambda text: display.one_form(text, lowered=lowered)  # noqa: E731 - one of two ways
    by_source = [
        {n: (texts[s.unit], form(texts[s.unit][1])) for n, texts in enumerate(written)} for s in there
    ]  # fmt: skip
    if plan.pairs:
        _lay_out_pairs(plan, by_source, options)
    elif content.texts_per_page == "one":
        _lay_out_lists(plan, by_source)
    else:
        for at, texts in enumerate(by_source):
            plan.pages.append(PlannedPage(at, at, _merged(plan, at, texts)))
    _add_checks(plan, int(options.get(CHECKS) or 0) / 100)
    return plan


#: Entrant number -> ((summary, what was written), what is shown).
_Texts = Mapping[int, tuple[tuple[int | None, str], str]]


def _written(one: Taking, sources: Sequence[PlannedSource]) -> dict[int, tuple[int | None, str]]:
    """What an entrant wrote of each source unit."""
    if one.run is None:
        return {s.unit: (None, s.reference) for s in sources}
    rows = Summary.objects.filter(item__run=one.run, item__unit__in={s.unit for s in sources})
    return {unit: (pk, text) for pk, unit, text in rows.values_list("pk", "item__unit", "text")}


def _code(plan: Planned, source: int, shown: str, more: str = "") -> str:
    unit = f"{plan.sources[source].unit}/{plan.sources[source].target}"
    return sha256(f"{plan.drawn}/{unit}/{more}/{shown}".encode()).hexdigest()[:8]


def _merged(plan: Planned, source: int, texts: _Texts) -> list[PlannedText]:
    """The distinct texts of a source in the order of their codes, which tells nothing."""
    found: dict[str, dict[int, tuple[int | None, str]]] = {}
    for number, (written, shown) in texts.items():
        found.setdefault(shown, {})[number] = written
    made = [PlannedText(_code(plan, source, shown), shown, of) for shown, of in found.items()]
    return sorted(made, key=lambda text: text.code)


def _lay_out_lists(plan: Planned, by_source: Sequence[_Texts]) -> None:
    """A page for each text, list by list: whoever works through them meets a source again when all others have come."""
    numbers = list(range(len(plan.taking)))
    had: set[tuple[int, str]] = set()
    for one in design.latin_lists(range(len(by_source)), numbers, plan.drawn):
        for source, entrant in one.items():
            shown = by_source[source][entrant][1]
            if (source, shown) in had:
                continue  # rated once, for all who wrote it
            had.add((source, shown))
            of = {n: written for n, (written, same) in by_source[source].items() if same == shown}
            text = PlannedText(_code(plan, source, shown), shown, of)
            plan.pages.append(PlannedPage(source, len(plan.pages), [text]))


def _lay_out_pairs(plan: Planned, by_source: Sequence[_Texts], options: Mapping[str, Any]) -> None:
    numbers = [str(n) for n in range(len(plan.taking))]
    each = options.get(PAIRS) or None
    most = len(numbers) * (len(numbers) - 1) // 2
    places = {str(at): at for at in range(len(by_source))}
    pairs = design.balanced_pairs(list(places), numbers, plan.drawn, each=min(each, most) if each else None)
    # Pairs of one source come together, sources in the order that was chosen.
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
        plan.pages.append(PlannedPage(source, len(plan.pages), texts))


def _add_checks(plan: Planned, share: float) -> None:
    """A text made worse, on a share of the pages, among the others; where a page has one text, on a page of its own,
    at a place that the seed says."""
    if not share:
        return
    by_page = {str(n): [text.code for text in page.texts] for n, page in enumerate(plan.pages)}
    wanted = {int(check.page): check.entrant for check in design.checks(by_page, share, plan.drawn)}
    made: list[PlannedPage] = []
    for n, page in enumerate(plan.pages):
        if n not in wanted:
            made.append(page)
            continue
        text = next(text for text in page.texts if text.code == wanted[n])
        others = islice((t.shown for p in plan.pages if p.source != page.source for t in p.texts), 50)
        bad = _worse(plan, page, text, list(others))
        if len(page.texts) > 1 and not plan.pairs:
            made.append(PlannedPage(page.source, page.number, sorted([*page.texts, bad], key=lambda t: t.code)))
        else:
            made += [page, PlannedPage(page.source, page.number, [text, bad] if plan.pairs else [bad])]
    plan.pages = [PlannedPage(page.source, n, page.texts) for n, page in enumerate(made)]


def _worse(plan: Planned, page: PlannedPage, text: PlannedText, others: Sequence[str]) -> PlannedText:
    shown = display.one_form(design.degraded(text.shown, others, f"{plan.drawn}/{text.code}"), lowered=plan.lowered)
    return PlannedText(_code(plan, page.source, shown, "check"), shown, {}, text.code)


def in_order(texts: Iterable[Any], *, pairs: bool, page: int, number: int, repeat: int, seed: Seed) -> list[Any]:
    """The texts of a page (``number``, ``entrants``, ``is_check``) as a place of the queue has them: ``number`` from 1;
    a curator's hand and a retired place are as place 1."""
    there = sorted(texts, key=lambda text: text.number)
    place = max(number, 1) - 1
    if pairs:
        return there[::-1] if (place + repeat) % 2 else there
    of = {str(entrant): text for text in there for entrant in text.entrants}
    found = list(dict.fromkeys(of[name] for name in _dealt(of, page, place, repeat, seed)))
    for bad in (text for text in there if text.is_check):
        found = design.with_check(found, bad, page, place, repeat, seed)
    return found


def _dealt(of: Mapping[str, Any], page: int, place: int, repeat: int, seed: Seed) -> Iterator[str]:
    return iter(design.order_of_page(list(of), page, place, repeat, seed) if of else [])
