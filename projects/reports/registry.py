"""Registry of paper tables, and the data that they are built from."""

from typing import Any, ClassVar, Generic, TypeVar

from api.registry import Registry

from ..models import Member, Project
from ..permissions import may, permit
from .figures import Figure, interval_plots
from .table import Table


class TableContext:
    """Data that several tables share, read once.

    ``member`` restricts the data to what this member may see; None includes everything. ``published`` leaves out
    embargoed runs for everybody, so that the table does not reveal that they exist.
    """

    #: Whether the constructor takes ``unseen``: leave out units that the model of any system has seen in a training.
    takes_unseen: ClassVar[bool] = False
    #: Whether its tables are about rating rounds. Pages show their figures with each round.
    of_rounds: ClassVar[bool] = False

    def __init__(self, project: Project, member: Member | None = None, *, published: bool = False) -> None:
        self.project, self.member, self.published = project, member, published


Data = TypeVar("Data", bound=TableContext)


class ReportTable(Generic[Data]):
    """A table of the paper. Stateless."""

    key: str
    title: str
    #: Key of the table that it is printed next to; "" for a table of its own.
    beside: str = ""
    #: The class of the data that it is built from.
    data: type[Data]
    #: Permission that a member needs to see it, if reading results is not enough.
    verb: str = ""

    def is_of(self, data: Data) -> bool:
        """Return whether the table applies to this data. Pages omit it otherwise."""
        return True

    def build(self, data: Data) -> Table:
        """Build the table from the current data, even if it is incomplete."""
        raise NotImplementedError

    def figures(self, data: Data) -> list[Figure]:
        """Return the table's figures: by default one for each column that has intervals."""
        return interval_plots(self.build(data))


class Tables:
    """The tables of a project that one member may see."""

    def __init__(
        self, project: Project, member: Member | None = None, *, published: bool = False, unseen: bool = False
    ) -> None:
        """``unseen``: leave out units that the model of any system has seen, in the tables that can."""
        self._asked = (project, member, published)
        self._unseen = unseen
        self._read: dict[type[TableContext], Any] = {}

    def data(self, of: type[Data]) -> Data:
        """Return the data of this class, loaded on first use."""
        if of not in self._read:
            project, member, published = self._asked
            options = {"unseen": True} if self._unseen and of.takes_unseen else {}
            self._read[of] = of(project, member, published=published, **options)
        loaded: Data = self._read[of]
        return loaded

    def build(self, table: ReportTable[Data]) -> Table:
        """Build a table. Raise `Forbidden` if the member may not see it."""
        return table.build(self._permitted(table))

    def figures(self, table: ReportTable[Data]) -> list[Figure]:
        """Return a table's figures. Raise `Forbidden` if the member may not see the table."""
        return table.figures(self._permitted(table))

    def _permitted(self, table: ReportTable[Data]) -> Data:
        member = self._asked[1]
        if member and table.verb:
            permit(member, table.verb)
        return self.data(table.data)

    def available_tables(self) -> list[ReportTable[Any]]:
        """Return all tables that the member may see and that apply to the project's data."""
        member = self._asked[1]
        mine = [table for table in every() if not (member and table.verb) or may(member, table.verb)]
        return [table for table in mine if table.is_of(self.data(table.data))]


_TABLES: Registry[ReportTable[Any]] = Registry(ReportTable, "table", module="tables")
#: Register the tables of a package. Called from ``AppConfig.ready``.
discover = _TABLES.discover
#: Return the table with a key. Raise `KeyError` if there is none.
get = _TABLES.get


def every() -> list[ReportTable[Any]]:
    """Return all tables in order of registration; each is followed by the tables printed next to it."""
    tables = _TABLES.every()
    return [each for own in tables if not own.beside for each in (own, *(t for t in tables if t.beside == own.key))]
