"""How the columns of a table become a corpus: settings of the file, and a role for each column."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from api.problems import Refused
from projects.spreadsheets.delimited import MOST_COLUMNS

from ...models import PassageRating, SummaryForm
from .labels import OF_ITEMS

DOCUMENTS, SENTENCES, QUESTIONS, PAGES = "documents", "sentences", "questions", "pages"
ITEM, INPUT = "item", "input"
FORMATS = {"csv": "CSV or TSV", "jsonl": "JSON lines", "json": "JSON", "parquet": "Parquet"}
ENCODINGS = {"utf-8": "UTF-8", "windows-1252": "Windows-1252", "utf-16": "UTF-16"}
DELIMITERS = (",", ";", "\t", "|")
QUOTES = ('"', "'", "")
KEPT, LEFT_OUT = "kept", "out"
#: Roles of columns by group, as pages show them.
ROLES: Mapping[str, Mapping[str, str]] = {
    "": {KEPT: "Kept as is", LEFT_OUT: "Left out"},
    "Item": {
        "key": "Key",
        "title": "Title",
        "question": "Question",
        "background": "Background",
        "topic": "Topic",
        "split": "Split",
        "target": "Target",
        "output": "Summary of a system",
    },
    "Input": {
        "input": "Input",
        "input_id": "Input id",
        "passage": "Passage",
        "page": "Page",
        "url": "Address of the page",
    },
    "Answer": {"label": "Label of a kind", "rating": "Rating"},
}
NAMES = {role: name for group in ROLES.values() for role, name in group.items()}
#: Kinds whose labels a table can contain: of passages, or of items.
KINDS = {"passage": "Passage relevance", **{key: kind.title for key, kind in OF_ITEMS.items()}}
#: Roles of one column at most.
SINGLE = ("key", "question", "background", "topic", "split", "input_id", "url")
#: Roles that must be confirmed, because a wrong guess would spoil every item, or register a system.
REQUIRED = ("key", "target", "question", "input", "passage", "output")
#: Roles of inputs, whose cells may have several values.
OF_INPUTS = ("input", "input_id", "passage", "page", "url", "rating", "label")
LONGEST_NAME, LONGEST_SYSTEM = 200, 80
#: Maximum length of a mapping as JSON.
LONGEST_JSON = 400_000


@dataclass(frozen=True)
class Column:
    """A column, or a path of a JSON file, and its role.

    ``split``: the text that separates several inputs in one cell. ``of``: whether a title or a summary is of the item
    or of one input. ``form`` and ``writer``: of a written summary; ``writer`` also names a system, whose name is
    otherwise that of the column. ``kind``: of a label. ``low`` and ``high``: range of ratings. ``untag``: whether
    MS^2's tags of populations, interventions and outcomes are removed from an input.
    """

    name: str
    role: str = KEPT
    is_guessed: bool = False
    split: str = ""
    of: str = ITEM
    form: str = SummaryForm.ABSTRACTIVE.value
    writer: str = ""
    kind: str = "passage"
    low: int = PassageRating.INCORRECT.value
    high: int = PassageRating.EXCELLENT.value
    untag: bool = False

    @property
    def is_of_inputs(self) -> bool:
        """Whether a cell has a value for each input."""
        return self.role in OF_INPUTS and not self.labels_item

    @property
    def labels_item(self) -> bool:
        return self.role == "label" and self.kind in OF_ITEMS


@dataclass(frozen=True)
class Settings:
    """How a file is read. ``guessed``: names of the settings that nobody has confirmed."""

    format: str = "csv"
    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    header: bool = True
    guessed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnMapping:
    """``rows``: whether one row is an item, or one input of an item. ``level``: documents or sentences."""

    settings: Settings
    columns: tuple[Column, ...]
    rows: str = ITEM
    level: str = DOCUMENTS
    guessed: tuple[str, ...] = field(default=())

    def of_role(self, *roles: str) -> list[Column]:
        return [column for column in self.columns if column.role in roles]

    @cached_property
    def has(self) -> Counter[str]:
        """Number of columns by role."""
        return Counter(column.role for column in self.columns)

    @property
    def shape(self) -> str:
        """Return what the table becomes."""
        if self.has["question"] or self.has["passage"]:
            return QUESTIONS
        return PAGES if self.has["page"] and not self.has["input"] else self.level

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield (column or "", what is missing or contradictory in the roles)."""
        has, shape = self.has, self.shape
        if not has["key"]:
            yield "", "Choose a key: the column that names the item."
        if shape == PAGES:
            if not has["input_id"]:
                yield "", "Choose an input id: the passage that each page belongs to."
        elif not has["input"] and not has["passage"]:
            yield "", "Choose an input or passage: the texts to summarise."
        if shape in (DOCUMENTS, SENTENCES) and not has["target"]:
            yield "", "Choose a target or a question."
        if shape == QUESTIONS:
            if not has["question"]:
                yield "", "Choose a question."
            if has["input"] and has["passage"]:
                yield self.of_role("input")[0].name, "With a question, choose Passage instead of Input."
        for role in SINGLE:
            for column in self.of_role(role)[1:]:
                yield column.name, f"{NAMES[role]} is given to two columns."
        yield from self._of_summaries()
        yield from self._of_answers()
        yield from self._of_systems()

    def _of_summaries(self) -> Iterator[tuple[str, str]]:
        seen: set[tuple[str, str, str]] = set()
        for column in self.of_role("target"):
            if self.shape != QUESTIONS:
                same = ("", "", "")
                message = "Target is given to two columns. Texts of systems have the role Summary of a system."
            else:
                same = (column.of, column.form, column.writer)
                message = (
                    f"Two {column.form} summaries of {'the passages' if column.of == ITEM else 'a passage'} by one "
                    "writer. Name the writer, or choose the other type."
                )
            if same in seen:
                yield column.name, message
            seen.add(same)
            if column.of == INPUT and self.shape == QUESTIONS and self.rows == ITEM:
                yield column.name, "A summary of one passage needs a row for each passage."
        titles = Counter(column.of for column in self.of_role("title"))
        if titles[ITEM] > 1 or titles[INPUT] > 1:
            yield self.of_role("title")[-1].name, "Title is given to two columns."

    def _of_answers(self) -> Iterator[tuple[str, str]]:
        answers = [column for column in self.of_role("rating", "label") if not column.labels_item]
        for column in answers:
            if self.shape not in (QUESTIONS, PAGES):
                yield column.name, f"{NAMES[column.role]}: only passages have one. Keep the column as it is."
            elif column is not answers[0]:
                yield column.name, "A passage has one rating. Keep the other column as it is."
            elif not 1 <= column.low < column.high <= len(PassageRating):
                yield column.name, f"Ratings of passages are between 1 and {len(PassageRating)}."

        kinds: set[str] = set()
        for column in self.of_role("label"):
            if not column.labels_item:
                continue
            if self.shape != DOCUMENTS:
                yield column.name, f"{KINDS[column.kind]}: only documents have one. Keep the column as it is."
            elif column.kind in kinds:
                yield column.name, f"{KINDS[column.kind]} is given to two columns."
            kinds.add(column.kind)

    def _of_systems(self) -> Iterator[tuple[str, str]]:
        seen: set[tuple[str, str]] = set()
        for column in self.of_role("output"):
            name, of = column.writer or column.name, column.of if self.shape == QUESTIONS else ITEM
            if self.shape == PAGES:
                yield column.name, "Pages have no summaries. Keep the column as it is."
            elif len(name) > LONGEST_SYSTEM:
                yield column.name, f"The name of a system has at most {LONGEST_SYSTEM} characters."
            elif (name, of) in seen:
                yield column.name, f"Two columns are of the system {name}. Name the systems."
            elif of == INPUT and self.rows == ITEM:
                yield column.name, "A summary of one passage needs a row for each passage."
            seen.add((name, of))

    def unconfirmed(self) -> list[Column]:
        """Return the columns with required roles that were guessed and not confirmed."""
        return [column for column in self.of_role(*REQUIRED) if column.is_guessed]

    def guesses(self) -> list[Column]:
        return [column for column in self.columns if column.is_guessed and column.role != LEFT_OUT]

    def gone(self, names: Sequence[str]) -> list[Column]:
        """Return the columns with a role that a file does not have."""
        present = {*names, *map(other_form, names)}
        return [column for column in self.columns if column.name not in present and column.role != LEFT_OUT]

    def has_all(self, names: Sequence[str]) -> bool:
        """Return whether the mapping has a role for each of these columns."""
        return set(names) <= {column.name for column in self.columns}

    def fitted(self, names: Sequence[str]) -> "ColumnMapping":
        """Return the mapping for a file with these columns. New columns are left out. Order: that of the file."""
        known = {other_form(column.name): column for column in self.columns}
        known |= {column.name: column for column in self.columns}
        fitted = (replace(known[name], name=name) if name in known else Column(name, LEFT_OUT) for name in names)
        return replace(self, columns=tuple(fitted))

    def confirmed(self) -> "ColumnMapping":
        return replace(self, columns=tuple(replace(column, is_guessed=False) for column in self.columns))

    def as_json(self) -> dict[str, Any]:
        """Return the mapping in the form that is saved and exported."""
        plain = Column("")
        listed = {}
        for column in self.columns:
            values = {
                name: value
                for name, value in asdict(column).items()
                if name != "name" and value != getattr(plain, name)
            }
            listed[column.name] = {"role": column.role, **values}
        settings = asdict(self.settings)
        guessed = [*settings.pop("guessed"), *self.guessed]
        return {**settings, "rows": self.rows, "level": self.level, "guessed": guessed, "columns": listed}


def other_form(name: str) -> str:
    """Return the path of a list for that of a text, and the reverse: some rows may have one, and others the other."""
    return name.removesuffix("[]") if name.endswith("[]") else f"{name}[]"


def parsed(text: str) -> ColumnMapping:
    """Return a mapping from its JSON. Raise `Refused` if it is none."""
    if len(text) > LONGEST_JSON:
        raise _refused(f"it is longer than {LONGEST_JSON:,} characters")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(f"it is not JSON ({error})") from None
    return from_json(value)


def from_json(value: Any) -> ColumnMapping:
    """Return a mapping from its JSON value. Raise `Refused` if it is none."""
    if not isinstance(value, dict) or not isinstance(value.get("columns"), dict):
        raise _refused('expected an object with "columns"')
    columns = value["columns"]
    if len(columns) > MOST_COLUMNS:
        raise _refused(f"more than {MOST_COLUMNS:,} columns")
    guessed = value.get("guessed", [])
    if not isinstance(guessed, list):
        raise _refused('"guessed" is not a list')
    settings = Settings(
        format=_choice(value, "format", FORMATS, "csv"),
        encoding=_choice(value, "encoding", ENCODINGS, "utf-8"),
        delimiter=_choice(value, "delimiter", DELIMITERS, ","),
        quote=_choice(value, "quote", QUOTES, '"'),
        header=_choice(value, "header", (True, False), True),
        guessed=tuple(one.name for one in fields(Settings) if one.name in guessed),
    )
    return ColumnMapping(
        settings,
        tuple(_column(str(name), column) for name, column in columns.items()),
        rows=_choice(value, "rows", (ITEM, INPUT), ITEM),
        level=_choice(value, "level", (DOCUMENTS, SENTENCES), DOCUMENTS),
        guessed=tuple(name for name in ("rows", "level") if name in guessed),
    )


def _column(name: str, value: Any) -> Column:
    if not isinstance(value, dict):
        raise _refused(f"the column {name!r} is no object")
    column = Column(
        name,
        role=_choice(value, "role", NAMES, KEPT, name),
        is_guessed=_choice(value, "is_guessed", (True, False), False, name),
        untag=_choice(value, "untag", (True, False), False, name),
        of=_choice(value, "of", (ITEM, INPUT), ITEM, name),
        form=_choice(value, "form", SummaryForm.values, SummaryForm.ABSTRACTIVE.value, name),
        kind=_choice(value, "kind", KINDS, "passage", name),
        split=_text(value, "split", 20, name),
        writer=_text(value, "writer", 100, name),
    )
    numbers = {key: value.get(key, getattr(column, key)) for key in ("low", "high")}
    if not all(isinstance(number, int) and abs(number) < 10**6 for number in numbers.values()):
        raise _refused(f"the range of {name!r} is not two numbers")
    return replace(column, **numbers)


def _text(value: Mapping[str, Any], key: str, longest: int, column: str) -> str:
    text = value.get(key, "")
    if not isinstance(text, str) or len(text) > longest or "\0" in text:
        raise _refused(f"{key} of {column!r} is not a text of at most {longest} characters")
    return text


def _choice(value: Mapping[str, Any], key: str, allowed: Any, default: Any, column: str = "") -> Any:
    chosen = value.get(key, default)
    if isinstance(chosen, (list, dict)) or chosen not in allowed:
        where = f" of {column!r}" if column else ""
        raise _refused(f"{key}{where} is {chosen!r}; expected one of {', '.join(repr(one) for one in allowed)}")
    return chosen


def _refused(message: str) -> Refused:
    return Refused.field("columns", f"The mapping cannot be read: {message}.")
