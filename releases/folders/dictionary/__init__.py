"""Data dictionary of a release: the meaning of rows, keys and columns of each file.

The comparison of two releases and the data card use it. This package needs no Django.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from . import agreement, annotation, ratings, systems
from .table import Table as Table

TABLES: Sequence[Table] = (*annotation.TABLES, *agreement.TABLES, *systems.TABLES, *ratings.TABLES)


def table_of(path: str) -> Table | None:
    """Return the description of a file of rows; None for any other file."""
    return next((table for table in TABLES if fnmatchcase(path, table.path)), None)
