"""Whatever the text and the way a program writes it, a table is read with the same cells."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.formats.columns.guesses import guess_mapping, guess_settings
from annotation.formats.columns.mapping import Settings, from_json
from annotation.formats.columns.tables import KEYS, Table
from annotation.imports.stream import START, Position
from projects.uploads.faults import Faults, Unreadable
from projects.uploads.files import Source

HEAD = ["id", "text", "a note"]
CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
ROWS = st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=8)


def read(content: bytes, settings: Settings, name: str = "t.csv", start: Position = START) -> tuple[list[str], Any]:
    with TemporaryDirectory() as folder:
        (path := Path(folder, name)).write_bytes(content)
        table, faults = Table(Source.of(path), settings).open(), Faults()
        rows = list(table.rows(start, faults))
        assert [str(fault) for fault in faults] == []
        return table.names, [(row.cells, row.end) for row in rows]


def guessed(content: bytes, name: str = "t.csv") -> Settings:
    with TemporaryDirectory() as folder:
        (path := Path(folder, name)).write_bytes(content)
        return guess_settings(Source.of(path))


def written(rows: Sequence[Sequence[str]], delimiter: str, end: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([HEAD, *rows])
    return out.getvalue()


@settings(deadline=None)
@given(
    ROWS, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
)
def test_a_table_is_read_as_it_was_written_and_continues_at_any_row(
    texts: list[list[str]], delimiter: str, end: str, encoding: str
) -> None:
    rows = [[f"k{n}", *row] for n, row in enumerate(texts)]
    content = written(rows, delimiter, end).encode(encoding)
    settings = guessed(content)
    assert (settings.delimiter, settings.encoding) == (delimiter, encoding.removesuffix("-sig"))
    names, found = read(content, settings)
    assert (names, [cells for cells, _ in found]) == (HEAD, rows)
    for n, (_, offset) in enumerate(found, start=1):
        assert [cells for cells, _ in read(content, settings, start=Position(0, offset))[1]] == rows[n:]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | CELL,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(st.fixed_dictionaries({"id": CELL, "value": JSON}), min_size=1, max_size=6), st.sampled_from([None, 2]))
def test_json_lines_an_array_and_an_object_give_the_same_rows(values: list[dict[str, Any]], indent: int | None) -> None:
    lines = "".join(json.dumps(value) + "\n" for value in values).encode()
    array = json.dumps(values, ensure_ascii=False, indent=indent).encode()
    keyed = json.dumps({f"k{n}": value for n, value in enumerate(values)}, indent=indent).encode()
    names, found = read(lines, Settings("jsonl"))
    expected = [cells for cells, _ in found]
    as_array = read(array, Settings("json"))
    assert (as_array[0], [cells for cells, _ in as_array[1]]) == (names, expected)
    by_key = read(keyed, Settings("json"))
    assert by_key[0] == [KEYS, *names]
    assert [cells for cells, _ in by_key[1]] == [[f"k{n}", *cells] for n, cells in enumerate(expected)]
    for n, (_, offset) in enumerate(as_array[1], start=1):
        assert [cells for cells, _ in read(array, Settings("json"), start=Position(0, offset))[1]] == expected[n:]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("sep=;\r\nid;text\r\n1;Zwölf\r\n".encode("cp1252"), ("csv", "windows-1252", ";", '"', True)),
        (b'id\ttext\n1\t"No, he said\n2\twide\n', ("csv", "utf-8", "\t", "", True)),
        (b"'id';'text'\n'1';'it''s'\n", ("csv", "utf-8", ";", "'", True)),
        (b"1,2.5,A text\n2,3,Another\n", ("csv", "utf-8", ",", '"', False)),
        ("id,text\n1,\xa0\n".encode("utf-16-le"), ("csv", "utf-16", ",", '"', True)),
        (b'{"a": 1}\n{"a": 2}\n', ("jsonl", "utf-8", ",", '"', True)),
        (b'\n[{"a": 1}]', ("json", "utf-8", ",", '"', True)),
        (b'{"1": {"a": 1},\n "2": {"a": 2}}', ("json", "utf-8", ",", '"', True)),
    ],
)  # fmt: skip
def test_settings_are_guessed_and_marked_as_guesses(content: bytes, expected: tuple[Any, ...]) -> None:
    settings = guessed(content)
    found = (settings.format, settings.encoding, settings.delimiter, settings.quote, settings.header)
    assert found == expected
    assert "encoding" in settings.guessed
    read(content, settings)


@pytest.mark.parametrize(
    ("content", "settings", "expected"),
    [
        (b"id,text\n1,Caf\xe9\n", Settings(), "t.csv:2: line: byte 0xE9"),
        (b"id,text\n1,a\x81b\n", Settings(encoding="windows-1252"), "t.csv:2: line: byte 0x81"),
        (b'[{"a": 1},\n {"a": }]', Settings("json"), "t.csv:2: a: not JSON"),
        (b"[1]", Settings("json"), "t.csv:1: file: expected a list of objects, found the number 1"),
        (b"", Settings(), "t.csv:1: file: the file is empty"),
        (b"PAR1", Settings("parquet"), "t.csv:1: file: "),
    ],
)
def test_what_cannot_be_read_is_a_fault_with_its_line(content: bytes, settings: Settings, expected: str) -> None:
    with TemporaryDirectory() as folder:
        (path := Path(folder, "t.csv")).write_bytes(content)
        faults = Faults()
        try:
            list(Table(Source.of(path, "t.csv"), settings).open().rows(START, faults))
        except Unreadable as unreadable:
            unreadable.add_to(faults)
        assert str(next(iter(faults))).startswith(expected)


def test_parquet_is_read_where_pyarrow_is_installed(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

    rows = [{"id": f"k{n}", "text": f"Text {n}", "more": [{"a": "x"}, {"a": "y"}]} for n in range(1500)]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    names, found = read(content, guessed(content))
    assert (names, found[-1]) == (["id", "text", "more[].a"], (["k1499", "Text 1499", ["x", "y"]], 1500))
    assert read(content, Settings("csv"))[0] == read(content, Settings("parquet"))[0], "the mapping of a CSV file"
    assert len(read(content, Settings("parquet"), start=Position(0, 1400))[1]) == 100


@given(st.sampled_from(["key", "input", "kept", "rating"]), st.booleans(), CELL)
def test_a_mapping_comes_back_from_its_json(role: str, is_guessed: bool, name: str) -> None:
    value = {
        "columns": {name: {"role": role, "is_guessed": is_guessed}},
        "rows": "input",
        "guessed": ["level", "quote"],
    }
    mapping = from_json(value)
    assert from_json(json.loads(json.dumps(mapping.as_json()))) == mapping


def test_a_joined_text_gives_way_to_the_list_of_its_parts(tmp_path: Path) -> None:
    value = {"docid": "1_0", "target_text": "T", "input_text": "A ||||| B", "input_studies": [{"source_text": "A"}]}
    (tmp_path / "t.jsonl").write_text(json.dumps(value) + "\n")
    mapping = guess_mapping(Source.of(tmp_path / "t.jsonl"))
    roles = {column.name: column.role for column in mapping.columns}
    assert (roles["input_studies[].source_text"], roles["input_text"]) == ("input", "kept")
