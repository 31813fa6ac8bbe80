"""Match the items of a file to the project: units by key, systems by name, summaries by text."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count

from annotation.imports import Notice
from evaluation.design.sources import PlannedSource, holds_against_target, sources_of
from evaluation.imports.ratings.rows import Page, RatingFile
from evaluation.models import RatingDesign, RatingSource
from evaluation.protocols.parts import Content
from generation import sources
from generation.imported_runs.actions import available_names
from generation.latest_runs import names, runs_with_summaries
from generation.models import Run, Summary, UnitLevel
from projects.models import Participant, Project, Unit

#: Value of ``sampling["units"]`` of an imported round.
ELSEWHERE = "made elsewhere"
NOT_BROUGHT = "(The imported file did not contain this text.)"


@dataclass
class Matches:
    """Matches between a file and the project.

    ``units`` maps the keys of existing units to ids. ``sources`` holds their sources by (key, target key or "").
    ``runs`` maps system names to runs. ``texts`` maps (system, unit key) to the summary id and its text.
    """

    systems: list[str]
    units: dict[str, int] = field(default_factory=dict)
    sources: dict[tuple[str, str], PlannedSource] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    texts: dict[tuple[str, str], tuple[int | None, str]] = field(default_factory=dict)
    #: Level of the units.
    level: str = ""
    #: System -> unit key -> text. These texts are in no run of the project and are imported with the ratings.
    unheld: dict[str, dict[str, str]] = field(default_factory=dict)
    odd: list[Notice] = field(default_factory=list)


def composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def match_file(project: Project, read: RatingFile, contents: Sequence[Content]) -> Matches:
    """Match a file to the project. Add a fault for each text that differs from the stored summary.

    Runs a fixed number of queries.
    """
    pages = list(dict.fromkeys(one.page for one in read.said))
    systems = dict.fromkeys(name for one in read.said for name in one.systems or one.page.sides or ())
    placed = Matches(sorted(systems))
    level = placed.level = _level(project, {page.unit for page in pages}, placed)
    if level:
        runs = [run for run in runs_with_summaries(project) if run.version.level == level]
        run_names = {pk: composed(name) for pk, name in names(runs).items()}
        placed.runs = {run_names[run.pk]: run for run in runs if run_names[run.pk] in systems}
        _sources(project, level, contents, placed)
        _refuse_blind(read, placed)
    _texts(read, placed)
    _unheld(project, read, placed)
    _say(pages, read, placed)
    _say_rated_before(project, {page.unit for page in pages}, {one.rater for one in read.said}, placed)
    return placed


def _say_rated_before(project: Project, keys: set[str], raters: set[str], placed: Matches) -> None:
    """Add a notice for each imported round in which some of these raters rated some of these units.

    A corrected file creates another round and does not replace the earlier one.
    """
    of_project = RatingSource.objects.filter(
        design__round__project=project, design__round__sampling__units=ELSEWHERE, unit__key__in=keys
    )
    rounds = of_project.order_by().values_list("design__round", "design__round__name")
    shared_units = rounds.annotate(n=Count("unit", distinct=True)).order_by("design__round")
    same = Participant.objects.filter(round__in=of_project.values("design__round"), member__rater__in=raters)
    shared = dict(same.order_by().values_list("round").annotate(n=Count("member", distinct=True)))
    for pk, name, units in shared_units:
        if pk in shared:
            message = (
                f"It shares {units} units and {shared[pk]} raters with this file. It is kept; this file "
                "becomes a new round."
            )
            placed.odd.append(Notice("rated in an earlier round", message, "", "", "round", name))


def _level(project: Project, keys: set[str], placed: Matches) -> str:
    """Return the level at which most keys exist, and store its units. Return "" if no key exists."""
    best, both = "", keys | {unicodedata.normalize("NFD", key) for key in keys}
    for level in UnitLevel:
        units = Unit.objects.filter(pk__in=sources.units(project, level).order_by(), key__in=both)
        unit_ids = {composed(key): pk for key, pk in units.values_list("key", "pk")}
        if len(unit_ids) > len(placed.units):
            placed.units, best = unit_ids, level
    return best


def _sources(project: Project, level: str, contents: Sequence[Content], placed: Matches) -> None:
    keys = {pk: key for key, pk in placed.units.items()}
    content = next((each for each in contents if holds_against_target(each)), contents[0])
    planned = sources_of(project, level, list(keys), content)
    targets = sources.keys_of([one.target for one in planned if one.target])
    for one in planned:
        placed.sources.setdefault((keys[one.unit], ""), one)
        placed.sources[keys[one.unit], targets.get(one.target or 0, "")] = one


def _refuse_blind(read: RatingFile, placed: Matches) -> None:
    """Add a fault for each system whose texts the file contains and which people rate blindly.

    Comparing the texts would show a rater who may import files which system wrote what.
    """
    runs = {run.pk: system for system, run in placed.runs.items()}
    designs = RatingDesign.objects.filter(systems__run__in=list(runs), unblinding=None).order_by("pk")
    blind = {runs[run]: name for run, name in designs.values_list("systems__run", "round__name") if run in runs}
    for (_, systems), (_, line) in read.texts.items():
        for system in systems:
            if system in blind:
                message = f"{system} is rated blindly in {blind.pop(system)!r}; unblind that round first"
                read.fault(line, "system", message)
                del placed.runs[system]


def _texts(read: RatingFile, placed: Matches) -> None:
    """Collect the summaries of the runs. Add a fault for each text of the file that differs from the run's summary."""
    keys = {pk: key for key, pk in placed.units.items()}
    rows = Summary.objects.filter(
        item__run__in=[run.pk for run in placed.runs.values()], item__unit__in=list(keys)
    ).values_list("item__run", "item__unit", "pk", "text")
    of_run = {run.pk: name for name, run in placed.runs.items()}
    for run, unit, pk, text in rows:
        placed.texts[of_run[run], keys[unit]] = (pk, text)
    for (page, systems), (text, line) in read.texts.items():
        for system in systems:
            summary = placed.texts.get((system, page.unit))
            if summary and summary[1].strip() != text.strip():
                read.fault(line, "summary", f"differs from the summary of {page.unit} by {system} in this project")


def _unheld(project: Project, read: RatingFile, placed: Matches) -> None:
    """Collect the texts of systems without a run, for units of the project.

    A system with two texts for one unit is left out, because a run has one summary per unit.
    """
    free = available_names(project, set(placed.systems) - set(placed.runs))
    texts: dict[str, dict[str, str]] = {}
    ambiguous: set[str] = set()
    for (page, systems), (text, _) in read.texts.items():
        for system in free.intersection(systems) if page.unit in placed.units else ():
            if texts.setdefault(system, {}).setdefault(page.unit, text) != text:
                ambiguous.add(system)
    placed.unheld = {system: texts[system] for system in sorted(texts) if system not in ambiguous}


def _say(pages: Iterable[Page], read: RatingFile, placed: Matches) -> None:
    for system in placed.systems:
        if imported := len(placed.unheld.get(system, ())):
            placed.odd.append(
                Notice(
                    "imported outputs",
                    f"{imported} texts are imported as a run of this system.",
                    "",
                    "",
                    "system",
                    system,
                )
            )
        elif system not in placed.runs:
            placed.odd.append(
                Notice(
                    "no run",
                    "The project has no run with this name; the texts come from this file.",
                    "",
                    "",
                    "system",
                    system,
                )
            )
    for unit in dict.fromkeys(page.unit for page in pages):
        if unit not in placed.units:
            placed.odd.append(Notice("no unit", "The project has no unit with this key; only the key is stored.", unit))


def text_of(
    page: Page, systems: tuple[str, ...], read: RatingFile, placed: Matches
) -> Mapping[str, tuple[int | None, str]]:
    """Return the text of each system: the run's summary, or else the text of the file."""
    text = read.texts.get((page, systems), (NOT_BROUGHT, 0))[0]
    return {system: placed.texts.get((system, page.unit), (None, text)) for system in systems}
