"""Description of one file of rows, and texts that several files share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
NUMPY = "Version of NumPy."
RULE = "Method of the interval and p."


@dataclass(frozen=True)
class Table:
    """A file of rows, CSV or JSON lines. ``path`` may contain a ``*`` if there are several such files.

    ``row`` is a noun phrase without an article. ``key`` are the columns (for JSON lines, the fields) that identify a
    row. ``others`` describes columns that are not in ``columns``; it is empty if there are none.
    """

    path: str
    row: str
    key: Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    others: str = ""
