"""SummEval's JSON lines: a summary a line, with the points of its raters, who are told apart by their places."""

from collections.abc import Iterator

from annotation.imports.json_lines import described, no_text

from .said import Page, Read, Said

RATERS = {"expert_annotations": "expert", "turker_annotations": "turker"}


def take(objects: Iterator[tuple[int, dict[str, object]]], read: Read) -> None:
    for line, found in objects:
        unit, system, text = (found.get(name) for name in ("id", "model_id", "decoded"))
        wrong = [name for name, value in (("id", unit), ("model_id", system), ("decoded", text))
                 if not isinstance(value, str) or not value.strip() or no_text(value)]  # fmt: skip
        for name in wrong:
            read.fault(line, name, f"expected a text, found {described(found.get(name))}")
        page, systems = Page(str(unit)), (str(system),)
        if wrong or not read.text(page, systems, str(text), line, "decoded"):
            continue
        for name, rater in RATERS.items():
            _points(line, name, rater, page, systems, found.get(name), read)


def _points(
    line: int, name: str, rater: str, page: Page, systems: tuple[str, ...], given: object, read: Read
) -> None:  # fmt: skip
    if not isinstance(given, list):
        read.fault(line, name, f"expected a list of points, found {described(given)}")
        return
    for number, points in enumerate(given, start=1):
        if not isinstance(points, dict):
            read.fault(line, f"{name}[{number - 1}]", f"expected an object, found {described(points)}")
            continue
        for criterion, value in points.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                read.fault(line, f"{name}[{number - 1}].{criterion}", f"expected a number, found {described(value)}")
            else:
                read.said.append(Said(line, page, f"{rater} {number}", criterion, f"{value:g}", "", systems))
