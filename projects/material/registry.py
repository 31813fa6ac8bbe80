"""Registry of the kinds of material, found in a module `material` of a feature package."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal

from django.db.models import Exists, Q, QuerySet

from api.registry import Registry

from ..models import Member, Project
from ..stored_figures.queries import Stored, stored

Rows = QuerySet[Any]


@dataclass(frozen=True)
class Column:
    """A column of a list of material. The first one names the row. ``fields``: fields to sort by, if it is sortable."""

    key: str
    title: str
    #: ``state``: the cells are keys of the kind's states.
    type: Literal["text", "count", "year", "state"] = "text"
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """A select beside the states of a list. ``options``: titles and conditions by key."""

    key: Literal["year", "studies"]
    title: str
    options: Mapping[str, tuple[str, Q]]


@dataclass(frozen=True)
class Row:
    """A row of a list. ``page`` is relative to the project, and empty if no page shows the row to the member."""

    id: int
    cells: Sequence[str | int | None]
    page: str = ""


@dataclass(frozen=True)
class Match:
    """A match of a search: its name and its page, relative to the project."""

    name: str
    page: str


@dataclass(frozen=True)
class Matches:
    """The first matches of a search, and their number. ``is_capped``: there are more than ``total``."""

    total: int = 0
    first: Sequence[Match] = ()
    is_capped: bool = False


class Material:
    """A kind of material. ``order`` is its position, in tens. Stateless."""

    key: str
    order: int
    singular: str
    plural: str
    #: Set of stored figures that has the count.
    figures: str
    #: Columns of its list. Empty if it has no list, or a component of its own in the frontend.
    columns: Sequence[Column] = ()
    #: Titles and conditions of the states that the list can be filtered by.
    states: Mapping[str, tuple[str, Q]] = {}
    #: States whose rows are stored with the figures, because a filter by them reads another large table. Each of their
    #: changes must be one of content (`content_changed`).
    stored_states: Sequence[str] = ()
    #: Further filters of the list.
    choices: Sequence[Choice] = ()
    #: Whether *Corpus* has a tab for it.
    is_listed = True
    #: Whether rounds over it produce other kinds.
    grows = False
    #: Whether `search` finds any.
    is_searched = False
    #: Addresses of the navigation, relative to the project, that are of use only with it.
    pages: Sequence[str] = ()
    #: Those of its pages that bring it into a project.
    sources: Sequence[str] = ()

    def columns_of(self, project: Project) -> Sequence[Column]:
        """Return the columns of its list in a project. Needs one query at most."""
        return self.columns

    def states_of(self, project: Project) -> Mapping[str, tuple[str, Q]]:
        """Return the states by which its list can be filtered in a project. Needs one query at most."""
        return self.states

    def all(self, project: Project) -> Rows:
        """Return the current rows of a project, in the order of its list."""
        raise NotImplementedError

    def hidden(self, member: Member) -> Q | None:
        """Return a condition of the rows that a member may not read, or None."""
        return None

    def exists(self, project: Project) -> Q | Exists:
        """Return a condition: the project has this kind."""
        return Q(Exists(self.all(project).order_by()))

    def is_counted(self, figures: Any) -> bool:
        """Return whether the project has this kind, from its current stored figures."""
        return self.count(figures) > 0

    def count(self, figures: Any) -> int:
        """Return the number of rows, from the stored figures of the project."""
        return int(figures[self.key])

    def matching(self, rows: Rows, words: str) -> Rows:
        """Return the rows of a list that match a search."""
        raise NotImplementedError

    def rows(self, page: Sequence[Any], member: Member) -> Sequence[Row]:
        """Return the list rows of some objects of `all`. Uses a fixed number of queries."""
        raise NotImplementedError

    def search(self, member: Member, words: str, limit: int) -> Matches:
        """Return the number of matches of a search in the project, and the first ``limit``. Three queries at most.

        The palette calls it while a person types, so it must not read all texts of a large table.
        """
        return Matches()

    def release_note(self, levels: Mapping[str, Mapping[str, Any]], paths: Sequence[str]) -> str:
        """Return a paragraph about this kind for the data card. Empty if the release has none.

        ``levels``: released targets, inputs, reviews and studies by level. ``paths``: of the files of the release.
        """
        return ""


_KINDS: Registry[Material] = Registry(Material, "kind of material", module="material")
#: Register the kinds of a package. Called from ``AppConfig.ready``.
discover = _KINDS.discover
get = _KINDS.get


def every() -> list[Material]:
    return sorted(_KINDS.every(), key=attrgetter("order"))


def figure_sets(project: Project) -> dict[str, Stored]:
    """Return the stored sets of figures that have the counts, by name. Two queries per set."""
    return {name: stored(project, name) for name in sorted({kind.figures for kind in every()})}


def of(project: Project, sets: Mapping[str, Stored] | None = None) -> list[Material]:
    """Return the kinds that a project has, in order. Needs one query besides `figure_sets`, none if they are current.

    Without current figures the database may have to read every review, to find one that is more than a document.
    """
    kinds = every()
    sets = figure_sets(project) if sets is None else sets
    if all(one.is_current for one in sets.values()):
        return [kind for kind in kinds if kind.is_counted(sets[kind.figures].figures)]
    conditions = {f"has_{kind.key}": kind.exists(project) for kind in kinds}
    has = Project.objects.filter(pk=project.pk).annotate(**conditions).values(*conditions).get()
    return [kind for kind in kinds if has[f"has_{kind.key}"]]


def unused_pages(kinds: Sequence[Material]) -> list[str]:
    """Return the pages of the navigation that are of no use with these kinds. An empty project can use all sources."""
    pages = {page for kind in every() for page in kind.pages}
    used = (page for kind in kinds for page in kind.pages) if kinds else (p for k in every() for p in k.sources)
    return sorted(pages.difference(used))


def is_fixed(kinds: Iterable[Material]) -> bool:
    """Return whether there are kinds, and rounds over them produce no other kind."""
    return bool(kinds) and not any(kind.grows for kind in kinds)


def counts(kinds: Iterable[Material], figures: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the count of each kind; None if it is not computed, or if rows arrived since.

    ``figures``: the stored sets of the project by name.
    """
    return {kind.key: (kind.count(one) or None) if (one := figures.get(kind.figures)) else None for kind in kinds}
