"""Tables and figures of papers. Each table is a module in the package `tables/` of an app."""

# Commands and pages use only `ReportTable`. An app defines the data behind its tables in a subclass of `TableContext`,
# which also decides what a member may see.

from .registry import ReportTable, TableContext, Tables, discover, every, get
from .table import Cell, Column, Missing, Table

__all__ = ["Cell", "Column", "Missing", "ReportTable", "Table", "TableContext", "Tables", "discover", "every", "get"]
