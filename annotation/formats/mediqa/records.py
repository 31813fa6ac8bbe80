"""Read a file of MEDIQA-AnS: check its form, and collect its texts, ratings and summaries."""

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from projects.uploads.faults import Faults
from projects.uploads.files import Source

from ...clusters.strata import DOCUMENT, length_error
from ...imports.json_lines import describe, illegal_character, parse, positions, quoted
from ...imports.reading import whole
from ...models import Part, PassageRating
from .files import ANSWER, MULTI, File, Json, Path, Value, get, path_text, put

#: Maximum size of a file in bytes. The largest published one has about 2 MB.
LONGEST = 64 * 2**20
#: Maximum length of a page in code points.
LONGEST_PAGE = 1_000_000
LONGEST_ID = 60
_RATING = re.compile(r"\s*([1-4])\s*(?:-\s*(\w+)\s*)?")


@dataclass
class Content:
    """The values of a file. ``paths``: where each value first occurs. ``others``: paths of values of unknown keys."""

    file: File
    source: Source
    text: str = ""
    value: Json = field(default_factory=dict)
    values: dict[Value, str | int] = field(default_factory=dict)
    paths: dict[Value, Path] = field(default_factory=dict)
    others: list[Path] = field(default_factory=list)
    _lines: dict[Path, int] = field(default_factory=dict)

    def line_of(self, path: Path) -> int:
        """Return the line of a value. All lines are found when the first one is needed."""
        if not self._lines:
            line = at = 0
            for each, position in positions(self.text):
                line += self.text.count("\n", at, position)
                at = position
                self._lines.setdefault(each, line + 1)
        return next((self._lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self._lines), 1)

    def fault(self, faults: Faults, path: Path, message: str) -> None:
        faults.add(self.source.name, self.line_of(path), path_text(path) or "file", message)

    def skeleton(self) -> str:
        """Return the file without its texts as JSON. Ratings and ids stay, because files may write them differently."""
        skeleton = copy.deepcopy(self.value)
        for path, value in self.file.values(self.value):
            if value.kind not in ("rating", "id"):
                put(skeleton, path, None)
        return json.dumps(skeleton, ensure_ascii=False)


def rating_of(value: Any) -> int | None:
    """Return the number of a rating such as "3-Incomplete", "3" or 3, or None if it is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value in PassageRating.values else None
    match = _RATING.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    rating = PassageRating(int(match[1]))
    return rating.value if match[2] in (None, rating.label) else None


def rating_text(rating: int) -> str:
    return f"{rating}-{PassageRating(rating).label}"


def read(file: File, source: Source, faults: Faults) -> Content:
    """Read a file. Its errors are added to ``faults``."""
    content = Content(file, source)
    line = whole(source, faults, LONGEST)
    value = parse(line, source.name, faults) if line else None
    if line is None or value is None:
        return content
    content.text, content.value = line.text, value
    if not value:
        content.fault(faults, (), "the file has no entries")
    before = faults.total
    for key, entry in value.items():
        _check_entry(content, key, entry, faults)
    if faults.total == before:
        _collect(content, faults)
    return content


def _check_entry(content: Content, key: str, entry: Any, faults: Faults) -> None:
    """Check the keys and the shape of an entry, so that `File.values` can walk it."""
    file = content.file
    _check_id(content, (key,), key, faults)
    if not _has_keys(content, (key,), entry, file.keys, faults):
        return
    if file.scope == MULTI:
        inside = file.inside
        passages = entry[inside]
        if not isinstance(passages, dict) or not passages:
            content.fault(faults, (key, inside), f"expected an object with passages, found {describe(passages)}")
            return
        for passage, said in passages.items():
            path = (key, inside, passage)
            _check_id(content, path, passage, faults)
            if file.is_primary:
                _has_keys(content, path, said, tuple(name for name, _, _ in ANSWER), faults)
            elif not isinstance(said, list) or len(said) != 2:
                content.fault(faults, path, f"expected a list of the text and the rating, found {describe(said)}")
    elif isinstance(entry["question_id"], bool) or not isinstance(entry["question_id"], str | int):
        content.fault(faults, (key, "question_id"), f"expected an id, found {describe(entry['question_id'])}")


def _check_id(content: Content, path: Path, key: str, faults: Faults) -> None:
    if not key.strip():
        content.fault(faults, path, "the id is empty")
    elif problem := illegal_character(key) or length_error(key, LONGEST_ID):
        content.fault(faults, path, problem)


def _has_keys(content: Content, path: Path, value: Any, keys: tuple[str, ...], faults: Faults) -> bool:
    """Report missing keys and note unknown ones. Return whether all keys are there."""
    if not isinstance(value, dict):
        content.fault(faults, path, f"expected an object with {', '.join(keys)}; found {describe(value)}")
        return False
    if missing := [key for key in keys if key not in value]:
        found = ", ".join(map(quoted, value)) or "none"
        message = f"missing: {', '.join(missing)}; found {found}. Is this the file {content.file.key}?"
        content.fault(faults, path, message)
    content.others += [(*path, key) for key in value if key not in keys]
    return not missing


def _collect(content: Content, faults: Faults) -> None:
    """Collect the values of a file whose shape is valid."""
    questions: dict[str, str] = {}
    for path, value in content.file.values(content.value):
        said = get(content.value, path)
        if value.passage and (other := questions.setdefault(value.passage, value.question)) != value.question:
            content.fault(faults, path, f"the passage {value.passage} also belongs to the question {other}")
            continue
        if value.kind == "id":
            _check_id(content, path, value.question, faults)
            continue
        if value.kind == "rating":
            rating = rating_of(said)
            if rating is None:
                expected = ", ".join(map(rating_text, PassageRating.values))
                content.fault(faults, path, f"expected a rating, one of {expected}; found {describe(said)}")
                continue
            said = rating
        elif not _is_text(content, path, value, said, faults):
            continue
        if content.values.setdefault(value, said) != said:
            line = content.line_of(content.paths[value])
            content.fault(faults, path, f"differs from the same {value.kind} in line {line}")
        content.paths.setdefault(value, path)


def _is_text(content: Content, path: Path, value: Value, said: Any, faults: Faults) -> bool:
    if not isinstance(said, str):
        content.fault(faults, path, f"expected a text, found {describe(said)}")
        return False
    longest = LONGEST_PAGE if value.name == Part.PAGE else DOCUMENT
    problem = illegal_character(said) or length_error(said, longest)
    if not problem and not said.strip() and value.kind != "summary" and value.name != Part.URL:
        problem = "the text is empty"
    if problem:
        content.fault(faults, path, problem)
    return not problem


def rebuilt(file: File, skeleton: Json, values: Mapping[Value, str | int]) -> Json:
    """Fill in the current values of a skeleton. A value without a current one stays as it was imported."""
    for path, value in list(file.values(skeleton)):
        if value.kind == "id" or value not in values:
            continue
        current = values[value]
        if value.kind != "rating":
            put(skeleton, path, current)
        elif rating_of(get(skeleton, path)) != current:
            put(skeleton, path, rating_text(int(current)))
    return skeleton


def dumped(content: Json) -> bytes:
    """Return a file in the published form: ASCII escapes, four blanks, no line ending after the last line."""
    return json.dumps(content, indent=4).encode()
