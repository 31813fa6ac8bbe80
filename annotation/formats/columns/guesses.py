"""Guess how a file is read and what its columns are. Every guess is marked, and people confirm what matters."""

import codecs
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any

from projects.spreadsheets.delimited import Delimited
from projects.uploads.faults import Faults, Unreadable
from projects.uploads.files import BOM, Source

from ...imports.stream import START
from ...models import PassageRating
from .mapping import (
    DELIMITERS,
    DOCUMENTS,
    INPUT,
    ITEM,
    KEPT,
    LEFT_OUT,
    SENTENCES,
    Column,
    ColumnMapping,
    Settings,
)  # fmt: skip
from .tables import CHUNK, KEYS, Row, Table, is_parquet, refuse_other_files

#: Rows from which roles are guessed.
ROWS = 200
#: Texts that separate several inputs in one cell.
SEPARATORS = ("|||||", "###", "<SEP>")
#: Names of columns by role. The first column that matches gets the role.
_NAMES: Sequence[tuple[str, str]] = (
    ("key", r"\(key\)|qid|docid|doc_?id|case[ _]?id|(review|question|item|article)[ _]?id|id|key"),
    ("input_id", r"(answer|input|passage|source|document|study|abstract)[ _]?id|pmid|doc|.*\bsource_pmid"),
    ("target", r"target([ _]text)?|reference([ _]summary)?|summary|gold([ _]summary)?|highlights|abstractive"),
    ("question", r"(consumer[ _])?question|query"),
    ("passage", r"answer|passage|section"),
    ("page", r"page|article[ _]text"),
    ("url", r"url|link|address"),
    ("input", r"text|abstract|inputs?([ _]text)?|article|document|body|.*\bsource_text|.*abstract"),
    ("rating", r"rating|relevance|grade|score"),
    ("background", r"background"),
    ("split", r"split|set|fold|partition"),
    ("topic", r"topic|category|section name"),
    ("title", r"title|headline"),
)
#: Columns of systems. Any number of columns can match.
_SYSTEM = re.compile(
    r"(.*[ _:.-])?(outputs?|predictions?|predicted|generated|hypothesis|systems?)([ _:.-].*)?", re.IGNORECASE
)
#: A text between tags of MS^2.
_TAGGED = re.compile(r"<(pop|int|out)>.*?</\1>", re.DOTALL)
_PATTERNS = [(role, re.compile(pattern, re.IGNORECASE)) for role, pattern in _NAMES]
_SENTENCE_KEY = re.compile(r"[1-9]\d{0,9}_\d{1,6}")
_RATING = re.compile(r"\s*(\d{1,6})\s*(?:-.*)?")
_QUOTED = {'"': re.compile(r'"[^"]*(?:"|$)'), "'": re.compile(r"'[^']*(?:'|$)")}


def guess_settings(source: Source) -> Settings:
    """Return how a file seems to be read. Reads the whole file once for its encoding. Raise `Unreadable`."""
    refuse_other_files(source)
    if is_parquet(source):
        return Settings(format="parquet", guessed=("format",))
    with source.path.open("rb") as file:
        head = file.read(1 << 16)
    guessed = tuple(one.name for one in fields(Settings) if one.name != "guessed")
    encoding = _encoding(source, head)
    codec = {"windows-1252": "cp1252"}.get(encoding, encoding)
    if encoding == "utf-16" and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        codec = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
    text = head.removeprefix(BOM).decode(codec, "ignore")
    if form := _json_form(text):
        return Settings(format=form, encoding=encoding, guessed=("format", "encoding"))
    delimiter, quote = _dialect(source, text, encoding)
    settings = Settings("csv", encoding, delimiter, quote, True, guessed)
    return settings if _has_header(source, settings) else Settings("csv", encoding, delimiter, quote, False, guessed)


def _encoding(source: Source, head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    pairs = head[:256]
    if len(pairs) >= 4 and 0 in pairs and (not any(pairs[1::2]) or not any(pairs[::2])):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with source.path.open("rb") as file:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _json_form(text: str) -> str:
    """Return "json" or "jsonl" if the file is JSON, else ""."""
    start = text.lstrip()
    if re.match(r"\[\s*\{", start):
        return "json"
    if not start.startswith("{"):
        return ""
    first, _, rest = start.partition("\n")
    try:
        value = json.loads(first)
    except ValueError:
        # A line that is longer than the head cannot be told from an object over several lines by its first line.
        return "json" if rest or not re.match(r'\{\s*"[^"]*"\s*:\s*["\[\d]', start) else "jsonl"
    return "json" if not rest.strip() and value and all(isinstance(one, dict) for one in value.values()) else "jsonl"


def _dialect(source: Source, text: str, encoding: str) -> tuple[str, str]:
    """Return the delimiter and the quotation mark. A tab-separated file may have none."""
    header = next((line for line in text.splitlines() if line.strip(",;|\t \xa0")), "")
    if named := re.fullmatch(r'"?sep=([,;|\t])"?\s*', header, re.IGNORECASE):
        return named[1], '"'
    quote = "'" if header.startswith("'") and header.rstrip().endswith("'") else '"'
    bare = _QUOTED[quote].sub("", header)
    delimiter = max(DELIMITERS, key=bare.count) if any(one in bare for one in DELIMITERS) else ","
    # Column names contain no tabs.
    if "\t" in bare:
        delimiter = "\t"
    if delimiter == "\t" and encoding == "utf-8":
        try:
            with source.path.open("rb") as file:
                return delimiter, quote if Delimited(file, source.name).dialect.is_quoted else ""
        except Unreadable:
            pass
    return delimiter, quote


def _has_header(source: Source, settings: Settings) -> bool:
    """Return whether the first row seems to name the columns: short, different texts, and no numbers."""
    try:
        names = Table(source, settings).open().names
    except Unreadable:
        return True
    stated = [name for name in names if not re.fullmatch(r"column \d+", name)]
    if any(re.fullmatch(r"[-+]?[\d.]+", name) or len(name) > 100 for name in stated):
        return False
    return not any(re.search(r" \(\d+\)$", name) and len(name) > 40 for name in stated)


def first_rows(source: Source, settings: Settings, most: int = ROWS) -> tuple[Table, list[Row]]:
    """Return the table and its first rows. Raise `Unreadable` if not even the names of its columns can be read."""
    table = Table(source, settings).open()
    return table, list(islice(table.rows(START, Faults()), most))


def guess_mapping(source: Source, settings: Settings | None = None) -> ColumnMapping:
    """Return the mapping that a file seems to have. Raise `Unreadable`."""
    settings = settings or guess_settings(source)
    table, rows = first_rows(source, settings)
    return guess_roles(table.names, rows, settings)


def guess_roles(names: Sequence[str], rows: Sequence[Row], settings: Settings) -> ColumnMapping:
    """Return a mapping of these columns. All roles are guesses."""
    roles: dict[str, str] = {}
    for role, pattern in _PATTERNS:
        free = [name for name in names if name not in roles and pattern.fullmatch(_last(name))]
        if free:
            # A list has the inputs one by one, and a text beside it joins them.
            lists = [name for name in free if "[]" in name] if role in ("input", "input_id") else []
            roles[(lists or free)[0]] = role
    roles |= {name: "output" for name in names if name not in roles and _SYSTEM.fullmatch(_last(name))}
    if "question" in roles.values():
        # With a question, texts are its passages.
        for name, role in roles.items():
            if role == "input":
                roles[name] = "passage" if "passage" not in roles.values() else "page"
    elif "passage" in roles.values() and "input" not in roles.values():
        roles = {name: "input" if role == "passage" else role for name, role in roles.items()}
    has_questions = "question" in roles.values() or "passage" in roles.values()
    if not has_questions:
        wrong = {"rating": KEPT, "page": KEPT, "url": KEPT}
        roles = {name: wrong.get(role, role) for name, role in roles.items()}
    cells = {name: [row.cells[n] for row in rows if n < len(row.cells)] for n, name in enumerate(names)}
    per = _rows(roles, cells)
    level = DOCUMENTS
    key = next((name for name, role in roles.items() if role == "key"), "")
    if key and cells[key] and all(isinstance(v, str) and _SENTENCE_KEY.fullmatch(v) for v in cells[key]):
        level = SENTENCES
    columns = tuple(_column(name, roles, cells[name], per, has_questions) for name in names)
    return ColumnMapping(settings, columns, per, level, guessed=("rows", "level"))


def _last(name: str) -> str:
    """Return the last part of a path, such as ``source_text`` of ``input_studies[].source_text``."""
    return name if name == KEYS else name.strip().removesuffix("[]").rpartition("].")[2].rpartition(".")[2]


def _rows(roles: Mapping[str, str], cells: Mapping[str, Sequence[Any]]) -> str:
    """Return whether a row is an item: not if many rows repeat the key of another one."""
    key = next((name for name, role in roles.items() if role == "key"), None)
    values = [value for value in cells[key] if value] if key else []
    return INPUT if len({str(value) for value in values}) < 0.9 * len(values) else ITEM


def _column(name: str, roles: Mapping[str, str], values: Sequence[Any], per: str, has_questions: bool) -> Column:
    role = roles.get(name, KEPT)
    is_empty = not any(values)
    if role == KEPT and (name.startswith(("=", "+", "@")) or (is_empty and re.fullmatch(r"column \d+", name))):
        role = LEFT_OUT if is_empty else KEPT
    column = Column(name, role, is_guessed=True)
    if role in ("input", "passage"):
        texts = [value for value in values[:40] if isinstance(value, str)]
        split = next((one for one in SEPARATORS if any(one in text for text in texts)), "")
        has_tags = any(_TAGGED.search(text) for text in texts)
        return Column(name, role, is_guessed=True, split=split, untag=has_tags)
    if role == "title" and per == INPUT and not has_questions:
        return Column(name, role, is_guessed=True, of=INPUT)
    if role == "target" and "extractive" in name.lower():
        return Column(name, role, is_guessed=True, form="extractive")
    if role == "rating":
        numbers = [int(m[1]) for value in values if isinstance(value, str) and (m := _RATING.fullmatch(value))]
        if not numbers:
            return Column(name, KEPT, is_guessed=True)
        return Column(name, role, is_guessed=True, low=1, high=len(PassageRating))
    return column
