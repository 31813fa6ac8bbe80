"""Where a file's items belong: units of the project by their keys, its systems by their names, texts as they stand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from annotation.imports import Notice
from generation.actions.brought import may_be_called
from generation.models import Run, Summary, UnitLevel
from generation.runs import sources
from generation.runs.at_hand import names, runs_with_summaries
from projects.models import Project, Unit

from ...design.shown import PlannedSource, sources_of
from ...protocols.parts import Content
from .said import Page, Read

NOT_BROUGHT = "(The text was not brought along.)"


@dataclass
class Placed:
    """``units``: by key, of those the project has; ``shown``: what is known of them, by (key, key of the target or "");
    ``runs``: by the name of the system; ``texts``: what a system wrote of a page's unit, and the summary's id."""

    systems: list[str]
    units: dict[str, int] = field(default_factory=dict)
    shown: dict[tuple[str, str], PlannedSource] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    texts: dict[tuple[str, str], tuple[int | None, str]] = field(default_factory=dict)
    #: Of the level of the units.
    level: str = ""
    #: System -> key of a unit -> text: what no run here holds, and is brought with the ratings.
    unheld: dict[str, dict[str, str]] = field(default_factory=dict)
    odd: list[Notice] = field(default_factory=list)


def place(project: Project, read: Read, content: Content) -> Placed:
    """A fixed number of queries, and what a file says beside what is there. Texts that differ are named as faults."""
    pages = list(dict.fromkeys(one.page for one in read.said))
    systems = dict.fromkeys(name for one in read.said for name in one.systems or one.page.sides or ())
    placed = Placed(sorted(systems))
    level = placed.level = _level(project, {page.unit for page in pages}, placed)
    if level:
        runs = [run for run in runs_with_summaries(project) if run.version.level == level]
        called = names(runs)
        placed.runs = {called[run.pk]: run for run in runs if called[run.pk] in systems}
        _sources(project, level, content, placed)
    _texts(read, placed)
    _unheld(project, read, placed)
    _say(pages, read, placed)
    return placed


def _level(project: Project, keys: set[str], placed: Placed) -> str:
    """The level at which most of the keys are found; "" where none is."""
    best = ""
    for level in UnitLevel:
        there = Unit.objects.filter(pk__in=sources.units(project, level).order_by(), key__in=keys)
        found = dict(there.values_list("key", "pk"))
        if len(found) > len(placed.units):
            placed.units, best = found, level
    return best


def _sources(project: Project, level: str, content: Content, placed: Placed) -> None:
    keys = {pk: key for key, pk in placed.units.items()}
    found = sources_of(project, level, list(keys), content)
    targets = sources.keys_of([one.target for one in found if one.target])
    for one in found:
        placed.shown.setdefault((keys[one.unit], ""), one)
        placed.shown[keys[one.unit], targets.get(one.target or 0, "")] = one


def _texts(read: Read, placed: Placed) -> None:
    """What the runs wrote. A run whose text is another than the file's is none of its systems."""
    keys = {pk: key for key, pk in placed.units.items()}
    rows = Summary.objects.filter(
        item__run__in=[run.pk for run in placed.runs.values()], item__unit__in=list(keys)
    ).values_list("item__run", "item__unit", "pk", "text")
    of_run = {run.pk: name for name, run in placed.runs.items()}
    for run, unit, pk, text in rows:
        placed.texts[of_run[run], keys[unit]] = (pk, text)
    for (page, systems), (text, line) in read.texts.items():
        for system in systems:
            there = placed.texts.get((system, page.unit))
            if there and there[1].strip() != text.strip():
                read.fault(line, "summary", f"not the text that {system} wrote of {page.unit} in this project")


def _unheld(project: Project, read: Read, placed: Placed) -> None:
    """What systems without a run wrote of units that are here. Where one has two texts of a unit there is no run: a run
    has one."""
    free = may_be_called(project, set(placed.systems) - set(placed.runs))
    found: dict[str, dict[str, str]] = {}
    two: set[str] = set()
    for (page, systems), (text, _) in read.texts.items():
        for system in free.intersection(systems) if page.unit in placed.units else ():
            if found.setdefault(system, {}).setdefault(page.unit, text) != text:
                two.add(system)
    placed.unheld = {system: found[system] for system in sorted(found) if system not in two}


def _say(pages: Iterable[Page], read: Read, placed: Placed) -> None:
    for system in placed.systems:
        if brought := len(placed.unheld.get(system, ())):
            placed.odd.append(Notice("imported outputs", f"{brought} of its texts become a run of imported outputs.",
                                     "", "", "system", system))  # fmt: skip
        elif system not in placed.runs:
            placed.odd.append(Notice("no run", "The project has no run of this name; its texts are of this file.",
                                     "", "", "system", system))  # fmt: skip
    for unit in dict.fromkeys(page.unit for page in pages):
        if unit not in placed.units:
            placed.odd.append(Notice("no unit", "The project has no such unit; it is known by its name only.", unit))


def text_of(page: Page, systems: tuple[str, ...], read: Read, placed: Placed) -> Mapping[str, tuple[int | None, str]]:
    """What each of these wrote: the run's summary, else the file's text."""
    given = read.texts.get((page, systems), (NOT_BROUGHT, 0))[0]
    return {system: placed.texts.get((system, page.unit), (None, given)) for system in systems}
