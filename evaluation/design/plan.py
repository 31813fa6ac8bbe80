"""The plan of a rating round: its texts, pages and sources, and the balance of the orders that people see."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from evaluation.design.sources import PlannedSource
from generation.sources import keys_of
from measures import design
from measures.sampling import Seed

from ..protocols.parts import Content
from .systems import PlannedSystem

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
