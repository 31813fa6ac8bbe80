"""Description of one file of rows, and texts that several files share."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

UNIT = "Key of the unit, the same in all files."
UNIT_TYPE = "Type of the unit: proposition, cluster, target sentence, target document or review."
REVIEW = "PubMed id of the review, or id of the question, that the unit belongs to. Intervals are clustered by it."
RATER = "Pseudonym."
TIME = "In UTC."
KIND = "Task kind."
ROUND = "Name of the round."
RUN = "Number of the run."
REPEAT = "0, or the number of the repetition."
ANSWERS = "File that the report is computed from: the counted rows with repeat 0."
SCALES = "Columns with their scales."
PART = "Column that identifies the part of a unit; empty if there is none."
CELLS = "The value, in the columns of the task kind."
#: Columns of task kinds that are text of the sources or may quote it, and those with offsets and quotes.
CELL_TEXTS = ("written_text", "text", "reason", "comment")
CELL_SPANS = (
    *("polarity_cue", "modality_cue", "p_pieces", "i_pieces", "c_pieces", "o_pieces", "chunks"),
    *("population_spans", "intervention_spans", "outcome_spans", "rejected_spans"),
)
NUMPY = "Version of NumPy."
RULE = "Method of the interval and p."


#: Types of columns: text, a whole number, a number, a flag, and any JSON value, which is text in Parquet files.
TEXT, INT, FLOAT, BOOL, JSON = "text", "int", "float", "bool", "json"
#: One of these, [type of the items], or {name: type} for an object.
Type = Any
#: Split of a Parquet file whose rows are not in parts. (`datasets` reserves the name "all".)
WHOLE = "full"
#: Split of the rows that a split of the project leaves out.
WITHOUT_PART = "unassigned"
#: Column of a Parquet file with the fields of a JSON line that the dictionary does not name.
OTHERS = "others"


@dataclass(frozen=True)
class Table:
    """A file of rows, CSV or JSON lines. ``path`` may contain a ``*`` if there are several such files.

    ``row`` is a noun phrase without an article. ``key`` are the columns (for JSON lines, the fields) that identify a
    row. ``others`` describes columns that are not in ``columns``; it is empty if there are none.

    ``types`` are the types of columns that are not text; ``others_type`` is the type of the columns that ``others``
    describes. An empty CSV cell of another type than text is no value. ``unit`` names the columns that can be a unit
    or review of a split, the most specific first: it determines the part of a row. If ``is_by_part``, the ``*`` of the
    path is the part.

    ``texts`` names the columns, and the fields of JSON values, that are text of the sources or may quote it; ``spans``
    those with offsets and quotes (`measures.spans.as_cell`). ``has_other_texts``: so are the columns that ``others``
    describes. A release without texts leaves them out (`releases.folders.texts`).
    """

    path: str
    row: str
    key: Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    others: str = ""
    types: Mapping[str, Type] = field(default_factory=dict)
    others_type: Type = TEXT
    unit: Sequence[str] = ()
    is_by_part: bool = False
    texts: Collection[str] = ()
    spans: Collection[str] = ()
    has_other_texts: bool = False

    def type_of(self, column: str) -> Type:
        return self.types.get(column, TEXT) if column in self.columns else self.others_type

    @property
    def config(self) -> str:
        """Name of the configuration of the file in `datasets`; a pattern if ``path`` is one."""
        return config_of(self.path.replace("*-", "") if self.is_by_part else self.path)

    def placed(self, path: str) -> tuple[str, str]:
        """Return the configuration of a file of this table, and its part; an empty part if it has no part."""
        if not self.is_by_part:
            return config_of(path), ""
        before, after = self.path.split("*")
        return self.config, split_of(path[len(before) : -len(after)])


def column_of(name: str) -> str:
    """Return the name in a Parquet file of a column. MSLR's tables have one without a name."""
    return name or "row"


def config_of(path: str) -> str:
    """Return the path without its ending, in the characters that names of configurations have."""
    return path.rpartition(".")[0].replace("/", "_").replace("-", "_")


def split_of(part: str) -> str:
    """Return the name of a part as `datasets` allows it."""
    name = re.sub(r"\W", "_", part, flags=re.ASCII)
    return WHOLE if name == "all" else name


def type_name(type: Type) -> str:
    """Return a type in words, for the description of a column."""
    if isinstance(type, list):
        return f"list of {type_name(type[0])}"
    return "object" if isinstance(type, dict) else "JSON" if type == JSON else str(type)
