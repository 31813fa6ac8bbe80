"""A table as pages show it."""

from typing import Any

from ..tables import Table
from ..tables.writing import marks, needed, words

Json = dict[str, Any]


def table_page(table: Table) -> Json:
    letters = marks(table)
    return {
        "key": table.key, "beside": table.beside, "title": table.title, "caption": table.caption,
        "columns": [{"title": column.title, "numeric": column.numeric} for column in table.columns],
        "rows": [
            [{"text": words(c), "undefined": c.undefined, "mark": letters.get(c.undefined, "")} for c in row]
            for row in table.rows
        ],
        "undefined": [{"mark": letter, "reason": reason} for reason, letter in letters.items()],
        "notes": list(table.notes),
        "missing": [
            {"words": step.words, "outdated": step.outdated, "sentence": needed(step), "command": step.command,
             "page": step.page, "runs": step.runs, "metric": step.metric, "params": step.params}
            for step in table.missing
        ],
    }  # fmt: skip
