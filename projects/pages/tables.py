"""A table as pages show it."""

from typing import Any

from ..tables import Table
from ..tables.writing import marks, words

Json = dict[str, Any]


def table_page(table: Table) -> Json:
    letters, best = marks(table), table.best()
    return {
        "key": table.key, "beside": table.beside, "title": table.title, "caption": table.caption,
        "columns": table.columns,
        "rows": [
            [
                {
                    "text": words(c), "undefined": c.undefined, "mark": letters.get(c.undefined, ""),
                    "best": (i, j) in best,
                }
                for j, c in enumerate(row)
            ]
            for i, row in enumerate(table.rows)
        ],
        "undefined": [{"mark": letter, "reason": reason} for reason, letter in letters.items()],
        "notes": table.notes,
        "missing": table.missing,
    }  # fmt: skip
