"""Plan the pages of a rating round.

The normalised form of a text is shown (`typography`). The original text is stored beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from math import comb
from typing import Any

from evaluation.design.sources import PlannedSource, sources_of
from generation.models import Summary
from measures import design
from measures.sampling import Seed, order_key
from projects.models import Project

from ..protocols.parts import Content
from . import writers
from .plan import Planned, PlannedPage, PlannedText
from .systems import PlannedSystem
from .typography import lowers, one_form

#: Option of a round: percentage of pages that get an attention check, a page with a degraded text.
CHECKS = "checks"
PAIRS = "pairs_a_source"
TUPLES = "tuples_a_source"


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
