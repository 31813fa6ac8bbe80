"""Data dictionary of a release: the meaning of rows, keys and columns of each file, and their types.

The comparison of two releases, the data card, Parquet files and Croissant use it. This package needs no Django.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from . import agreement, annotation, judges, published, ratings, systems
from .table import Table as Table

TABLES: Sequence[Table] = (
    *published.TABLES,
    *annotation.TABLES,
    *agreement.TABLES,
    *systems.TABLES,
    *ratings.TABLES,
    *judges.TABLES,
)
#: Folder of the Parquet files: a folder per configuration, a file per split.
PARQUET = "huggingface"


def table_of(path: str) -> Table | None:
    """Return the description of a file of rows; None for any other file."""
    folder, _, rest = path.partition("/")
    if folder == PARQUET:
        config = rest.partition("/")[0]
        return next((table for table in TABLES if fnmatchcase(config, table.config)), None)
    return next((table for table in TABLES if fnmatchcase(path, table.path)), None)


def has_lines(path: str) -> bool:
    """Whether a file of rows is text that can be read line by line, which Parquet is not."""
    return path.endswith((".csv", ".jsonl"))
