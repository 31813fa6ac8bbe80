"""The tables that exist, found in the folders of the apps that have some, and what they are made of."""

from typing import Any, Generic, TypeVar

from api.registry import Registry

from ..models import Member, Project
from ..permissions import may, permit
from .table import Table


class TableData:
    """What several tables are made of, read once for all of them: as ``member`` may see it, or all of it.

    ``published``: without what is sealed from anybody, so that nothing tells that there is such.
    """

    def __init__(self, project: Project, member: Member | None = None, *, published: bool = False) -> None:
        self.project, self.member, self.published = project, member, published


Data = TypeVar("Data", bound=TableData)


class PaperTable(Generic[Data]):
    """One of the tables. Stateless."""

    key: str
    title: str
    #: The key of the table that it stands beside; "" for one of its own.
    beside: str = ""
    #: What it is made from.
    data: type[Data]
    #: What a member must be allowed to do to see it, where reading results is not enough.
    verb: str = ""

    def is_of(self, data: Data) -> bool:
        """Whether there is anything that the table is about; pages leave it out where not."""
        return True

    def build(self, data: Data) -> Table:
        """The table as the data base has it now, whole or not."""
        raise NotImplementedError


class Tables:
    """The tables of a project as one person sees them."""

    def __init__(self, project: Project, member: Member | None = None, *, published: bool = False) -> None:
        self._asked = (project, member, published)
        self._read: dict[type[TableData], Any] = {}

    def data(self, of: type[Data]) -> Data:
        """What tables are made of, read when the first asks for it."""
        if of not in self._read:
            project, member, published = self._asked
            self._read[of] = of(project, member, published=published)
        found: Data = self._read[of]
        return found

    def build(self, table: PaperTable[Data]) -> Table:
        """Raises `Forbidden` where the member may not see it."""
        member = self._asked[1]
        if member and table.verb:
            permit(member, table.verb)
        return table.build(self.data(table.data))

    def there(self) -> list[PaperTable[Any]]:
        """All tables that the member may see and that are about something that is there."""
        member = self._asked[1]
        mine = [table for table in every() if not (member and table.verb) or may(member, table.verb)]
        return [table for table in mine if table.is_of(self.data(table.data))]


_TABLES: Registry[PaperTable[Any]] = Registry(PaperTable, "table")
#: Make the tables of a package known: called from ``AppConfig.ready``.
discover = _TABLES.discover
#: The table of a key; KeyError where there is none.
get = _TABLES.get


def every() -> list[PaperTable[Any]]:
    """All tables, app by app and module by module; those that stand beside one come right after it."""
    found = _TABLES.every()
    return [each for own in found if not own.beside for each in (own, *(t for t in found if t.beside == own.key))]
