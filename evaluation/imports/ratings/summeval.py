"""Read SummEval's JSON lines: one summary per line, with its ratings.

A rater is identified by the position in the list of ratings.
"""

from collections.abc import Iterator

from annotation.imports.json_lines import describe, illegal_character
from evaluation.imports.ratings.rows import Page, Part, RatingFile, RatingRow
from projects.spreadsheets.cells import number_text

#: Field -> the prefix of its raters' names, and their group.
RATERS = {
    "expert_annotations": ("expert", Part(group="experts")),
    "turker_annotations": ("turker", Part(group="crowd")),
}


def take(objects: Iterator[tuple[int, dict[str, object]]], read: RatingFile) -> None:
    for line, record in objects:
        unit, system, text = (record.get(name) for name in ("id", "model_id", "decoded"))
        invalid = [
            name
            for name, value in (("id", unit), ("model_id", system), ("decoded", text))
            if not isinstance(value, str) or not value.strip() or illegal_character(value)
        ]
        for name in invalid:
            read.fault(line, name, f"expected a text, found {describe(record.get(name))}")
        page = Page(read.name("unit", str(unit), line, "id"))
        systems = (read.name("system", str(system), line, "model_id"),)
        if invalid or not read.text(page, systems, str(text), line, "decoded"):
            continue
        for name in RATERS:
            _points(line, name, page, systems, record.get(name), read)


def _points(line: int, name: str, page: Page, systems: tuple[str, ...], ratings: object, read: RatingFile) -> None:
    rater, part = RATERS[name]
    if not isinstance(ratings, list):
        read.fault(line, name, f"expected a list of points, found {describe(ratings)}")
        return
    for number, points in enumerate(ratings, start=1):
        if not isinstance(points, dict):
            read.fault(line, f"{name}[{number - 1}]", f"expected an object, found {describe(points)}")
            continue
        for criterion, value in points.items():
            if unfit := illegal_character(criterion) or ("" if criterion.strip() else "empty criterion name"):
                read.fault(line, f"{name}[{number - 1}]", unfit)
            elif isinstance(value, bool) or not isinstance(value, int | float):
                read.fault(line, f"{name}[{number - 1}].{criterion}", f"expected a number, found {describe(value)}")
            else:
                rating = RatingRow(
                    line,
                    page,
                    f"{rater} {number}",
                    read.criterion(criterion, line),
                    number_text(value),
                    "",
                    systems,
                    part=part,
                )
                read.add(rating, f"{name}[{number - 1}].{criterion}")
