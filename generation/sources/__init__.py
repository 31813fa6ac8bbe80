"""Units as input of summarisers and metrics, read from the corpus in a fixed number of queries.

Each level is a module, listed here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import DataSplit
from annotation.splits.queries import divided_reviews
from annotation.splits.queries import units_of as units_of_split
from api.problems import Refused
from projects.models import Project, Unit

from ..backends.assembly import reads_pages
from ..models import UnitLevel, Version
from .answers import AnswerSource, QuestionSource
from .document import DocumentSource
from .pair import PairSource
from .proposition import PropositionSource
from .protocol import Material, Position, Reference, UnitSource
from .sentence import SentenceSource

__all__ = ["Material", "Position", "Reference"]

_EVERY: tuple[UnitSource, ...] = (
    QuestionSource(),
    AnswerSource(),
    DocumentSource(),
    SentenceSource(),
    PropositionSource(),
    PairSource(),
)
_SOURCES = {source.level: source for source in _EVERY}
#: The units of a run, by level.
LEVELS = {source.level: source.name for source in _EVERY}
#: Reviews whose units are read at once.
_REVIEWS = 200


def source_of(level: str) -> UnitSource:
    """Return the source of the units of a level."""
    return _SOURCES[UnitLevel(level)]


def units(project: Project, level: str) -> QuerySet[Any, int]:
    """Like `units_of`, as a query, for pagination."""
    source = source_of(level)
    return source.existing(project).order_by(*source.order).values_list(source.unit, flat=True)


def count_units(project: Project, level: str) -> int:
    """Return the number of units of a level, with those that do not exist yet."""
    return source_of(level).rows(project).count()


def unit_positions(project: Project, level: str) -> QuerySet[Any, Position]:
    """Return the positions of the units of a level in corpus order. Runs create their items in this order."""
    source = source_of(level)
    return source.rows(project).order_by(*source.order).values_list(*source.order, source.unit)


def after(level: str, first: int, second: int) -> Q:
    """Return the condition of positions after the given one."""
    one, other = source_of(level).order
    # The first condition is redundant, but it lets the query start in the middle of an index.
    return Q(**{f"{one}__gte": first}) & (Q(**{f"{one}__gt": first}) | Q(**{f"{other}__gt": second}))


def place_of(project: Project, level: str, unit: int) -> int | None:
    """Return the position of a unit among `units`, from 1, or None."""
    source = source_of(level)
    rows, (first, second) = source.existing(project), source.order
    row = rows.filter(**{source.unit: unit}).order_by(first, second).values(first, second).first()
    if row is None:
        return None
    before = Q(**{f"{first}__lt": row[first]}) | Q(**{first: row[first], f"{second}__lt": row[second]})
    return int(rows.filter(before).count()) + 1


def level_of(project: Project, wanted: str) -> str:
    """Return the default level: the wanted one if the project has units of it, else the finest level with units."""
    if not source_of(wanted).is_alternative:
        return wanted
    alternatives = [source.level for source in reversed(_EVERY) if source.is_alternative]
    levels = [level for level in (*alternatives, UnitLevel(wanted)) if source_of(level).rows(project).exists()]
    return wanted if wanted in levels or not levels else levels[0]


def required_places(project: Project, level: str) -> QuerySet[Any, Position]:
    """Like `unit_positions`. Raise `Refused` with the available levels if a project has no units of the level."""
    positions = unit_positions(project, level)
    if positions.exists():
        return positions
    counts = {source.level: count_units(project, source.level) for source in _EVERY}
    available = " and ".join(f"{n} {LEVELS[other]}, level {other}" for other, n in counts.items() if n)
    alternatives = available or "no corpus yet: import one"
    raise Refused(f"This project has no {LEVELS[UnitLevel(level)]}, level {level}. It has {alternatives}.")


def levels_with_targets(projects: Sequence[int]) -> dict[int, list[str]]:
    """Return the levels at which each project may have units with a target. One query per level."""
    found: dict[int, list[str]] = {project: [] for project in projects}
    for source in _EVERY:
        for project in source.with_targets(projects):
            found[project].append(source.level)
    return found


@dataclass(frozen=True)
class PartUnit:
    """A unit of a part of a split. ``is_divided``: its review (or question) is also in another part."""

    unit: int
    key: str
    is_divided: bool = False


def units_of_part(split: DataSplit, part: str, level: str) -> Iterator[PartUnit]:
    """Yield the units of a level that are in a part of a split. Those that do not exist yet are created.

    A split of another level divides them by their review or question.
    """
    source, rows, divided = source_of(level), units_of_split(split, part), divided_reviews(split)
    # The unit of a document is that of its review, but a split of documents has the units of their targets.
    if split.level == level and source.unit == "unit_id":
        for unit, key, review in rows:
            yield PartUnit(unit, key, review in divided)
        return
    reviews = list(dict.fromkeys(review for _, _, review in rows))
    for start in range(0, len(reviews), _REVIEWS):
        found = source.rows(split.project).filter(**{f"{source.group}__in": reviews[start : start + _REVIEWS]})
        places = list(found.order_by(*source.order).values_list(*source.order, source.unit, source.group))
        units = source.existing_units([(first, second, unit) for first, second, unit, _ in places])
        keys = keys_of(units)
        for unit, (_, _, _, review) in zip(units, places, strict=True):
            yield PartUnit(unit, keys[unit], review in divided)


def existing_units(level: str, positions: Sequence[Position]) -> list[int]:
    """Return the units of positions, and create those that do not exist yet."""
    return source_of(level).existing_units(positions)


def skipped(project: Project, level: str) -> dict[str, int]:
    """Return how many reviews or units a run of a level skips, by reason."""
    return {reason: count for reason, count in source_of(level).skipped(project).items() if count}


def units_of(project: Project, level: str) -> list[int]:
    """Return the ids of the units of a level in corpus order."""
    return list(units(project, level))


def first_key(project: Project, level: str) -> str | None:
    """Return the key of the first unit of a level, or None."""
    return source_of(level).first_key(project)


def matching_keys(project: Project, level: str, keys: Sequence[str]) -> set[str]:
    """Return those of the keys that belong to units of a level."""
    return source_of(level).matching_keys(project, keys)


def materials(project: Project, level: str, units: Sequence[int], *, pages: bool = False) -> dict[int, Material]:
    """Return the material of these units, by unit id. Units without inputs and retired units are left out."""
    return source_of(level).materials(units, pages=pages)


def materials_of(version: Version, units: Sequence[int]) -> dict[int, Material]:
    """Like `materials`, with the inputs that a version reads: passages or whole pages."""
    return materials(version.system.project, version.level, units, pages=reads_pages(version.config))


def sizes(level: str, units: Sequence[int], *, pages: bool = False) -> dict[int, int]:
    """Return the number of input characters of each unit, or 0 without inputs."""
    known_sizes = source_of(level).sizes(units, pages=pages)
    return {unit: known_sizes.get(unit, 0) for unit in units}


def keys_of(units: Sequence[int]) -> dict[int, str]:
    """Return the keys of units."""
    return dict(Unit.objects.filter(pk__in=units).values_list("pk", "key"))
