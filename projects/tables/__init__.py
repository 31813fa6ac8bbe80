"""Tables as papers print them: a module each, in the folder `tables/` of any app."""

# Whoever prints them (a command, a page) knows a table by `PaperTable` only. What a table is made of, an app says in a
# class that extends `TableData`; who sees it is that class's business.

from .registry import PaperTable, TableData, Tables, discover, every, get
from .table import Cell, Column, Missing, Table

__all__ = [
    "Cell", "Column", "Missing", "PaperTable", "Table", "TableData", "Tables", "discover", "every", "get",
]  # fmt: skip
