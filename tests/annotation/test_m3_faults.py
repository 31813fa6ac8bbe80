"""A faulty file is refused as a whole: every fault with line and field, no traceback, nothing written."""

import bz2
import gzip
import json
import lzma
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.imports.actions import import_files
from annotation.models import Cluster, Review
from api.problems import Problem
from projects.models import Import, Project, Unit
from tests.annotation.m3_files import as_bytes, checked, cluster, faults_of, import_records, plain, source, write

GOOD = [cluster(f"26258610_{n}") for n in range(5)]


def spoiled(number: int, line: bytes) -> bytes:
    """Return five valid lines with one of them (from 1) replaced."""
    lines = as_bytes(GOOD).splitlines(keepends=True)
    lines[number - 1] = line
    return b"".join(lines)


def line_of(**fields: object) -> bytes:
    return as_bytes([cluster("26258610_7") | fields])


@pytest.mark.parametrize(
    ("line", "field", "said"),
    [
        (b'{"docid": "26258610_7", "pico": {"p": oops}}\n', "pico.p", "not JSON"),
        (line_of(docid="26258610_0"), "docid", "line 1 already has"),
        (line_of(target_direction="up"), "target_direction", 'expected one of "positive"'),
        (line_of(target_modality="certain"), "target_modality", 'expected one of "strong"'),
        (line_of(discourse_relation="maybe"), "discourse_relation", "expected one of"),
        (line_of(target_text=7), "target_text", "expected a string, found the number 7"),
        (line_of(target_text=None), "target_text", "expected a string, found null"),
        (line_of(target_text="  "), "target_text", "the text is empty"),
        (line_of(pico=[]), "pico", "expected an object"),
        (line_of(pico={"p": "", "i": "", "c": ""}), "pico.o", "missing"),
        (line_of(pico={"p": "", "i": "", "c": "", "o": "", "s": ""}), "pico.s", "unknown key"),
        (line_of(pico={"p": " ", "i": "", "c": "", "o": ""}), "pico.p", "the text has only spaces"),
        (line_of(input_studies={}), "input_studies", "expected a list"),
        (line_of(input_studies=[]), "input_studies", "empty"),
        (line_of(input_studies=["x"]), "input_studies[0]", "expected an object"),
        (line_of(input_text="something else"), "input_text", "differ from character 1"),
        (line_of(docid="26258610"), "docid", "expected a PMID and a number"),
        (line_of(docid="٢٦_0"), "docid", "expected a PMID and a number"),
        (line_of(note="x"), "note", "unknown key"),
        (line_of(target_direction="n/a"), "target_direction", 'exactly if target_modality is "no evidence"'),
        (line_of(target_modality="no evidence"), "target_direction", "exactly if"),
        (
            as_bytes([cluster("26258610_7", [source(), source(source_direction="both")])]),
            "input_studies[1].source_direction",
            "expected one of",
        ),
        (
            as_bytes([cluster("26258610_7", [source(), source(pmid="PMC1")])]),
            "input_studies[1].source_pmid",
            "expected a PMID",
        ),
        (
            as_bytes([cluster("26258610_7", [{k: v for k, v in source().items() if k != "source_modality"}])]),
            "input_studies[0].source_modality",
            "missing",
        ),
        (line_of().replace(b"relapse", b"rel\xe9pse", 1), "pico.o", "0xE9"),
        (line_of().replace(b"The review", b"The\x00review"), "target_text", "NUL"),
        (line_of(target_text="a\0b"), "target_text", "NUL"),
        (line_of().replace(b'"26258610_7"', b'"\\ud800"'), "docid", "surrogate"),
        (b'{"docid": "1_0", "docid": "1_1", "pico": {}}\n', "docid", "occurs twice"),
        (b'{"docid": "1_0", "pico": {"p": "a", "p": "b"}}\n', "p", "occurs twice"),
        (b'{"docid": "1_0, "pico": {}}\n', "docid", "that opens at column 11 may lack its closing quotation mark"),
        (b'{"docid": "1_0\n', "docid", "Unterminated string starting at column 11"),
        (b"\xef\xbb\xbf" + line_of(), "line", "starts with a byte order mark"),
        (b'{"docid": NaN, "pico": {}}\n', "docid", "NaN is not a JSON value"),
        (b'{"docid": ' + b"9" * 10_000 + b"}\n", "docid", "a number has 10000 digits"),
        (b"[" * 100_000 + b"\n", "line", "nested too deeply"),
        (b'{"pico":' * 100_000 + b"\n", "line", "nested too deeply"),
        (b"[1]\n", "line", "expected a JSON object, found a list"),
        (b"\n", "line", "the line is empty"),
    ],
)
@pytest.mark.row(24, 25, 28)
def test_a_faulty_line_is_named_with_its_field(file: Path, line: bytes, field: str, said: str) -> None:
    began = time.process_time()
    faults = faults_of(file, spoiled(3, line))
    assert time.process_time() - began < 1
    assert faults[0][:2] == (3, field)
    assert any(said in message for _, _, message in faults)


@pytest.mark.row(24)
def test_every_fault_of_a_file_is_listed_up_to_200_and_all_are_counted(file: Path) -> None:
    content = as_bytes(cluster(f"26258610_{n}", target_direction="up") for n in range(250))
    found = checked(None, write(file, content)).faults
    assert (len(found.listed), found.total) == (200, 250)
    assert [f.line for f in found][:3] == [1, 2, 3]
    assert "250 faults, the first 200 listed" in found.summary()


def test_several_faults_of_one_line_are_all_named(file: Path) -> None:
    bad = cluster("x", [source(source_direction="up", source_modality="sure")], target_text=1)
    assert [field for _, field, _ in faults_of(file, [bad])] == [
        "docid",
        "target_text",
        "input_studies[0].source_direction",
        "input_studies[0].source_modality",
    ]


def test_an_empty_file_is_refused(file: Path) -> None:
    assert faults_of(file, b"") == [(1, "file", "the file is empty; expected one JSON object per line")]


def test_a_truncated_last_line_is_reported_as_truncated(file: Path) -> None:
    [(line, field, message)] = faults_of(file, as_bytes(GOOD)[:-40])
    assert line == 5
    assert field.startswith("input_studies[0].source_")
    assert "seems truncated" in message


def test_a_file_cut_inside_a_character_is_called_cut_off(file: Path) -> None:
    content = json.dumps(cluster(target_text="µ"), ensure_ascii=False).encode()
    [(line, field, message)] = faults_of(file, content[: content.index("µ".encode()) + 1])
    assert (line, field) == (1, "target_text")
    assert "truncated" in message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-32"])
@pytest.mark.row(25)
def test_utf_16_and_32_are_refused_by_name(file: Path, encoding: str) -> None:
    [(line, field, message)] = faults_of(file, as_bytes(GOOD).decode().encode(encoding))
    assert (line, field) == (1, "file")
    assert "UTF-16" in message or "UTF-32" in message


@pytest.mark.row(30)
def test_an_archive_is_refused_by_name(file: Path) -> None:
    assert "ZIP" in faults_of(file, b"PK\x03\x04....")[0][2]
    content = as_bytes(GOOD)
    for name, archive in (("gzip", gzip), ("bzip2", bz2), ("xz", lzma)):
        assert (
            f"found a{'n' if name == 'xz' else ''} {name} archive" in faults_of(file, archive.compress(content))[0][2]
        )


def test_json_that_is_not_written_line_by_line_is_one_fault(file: Path) -> None:
    value, *_ = [json.loads(line) for line in as_bytes(GOOD).splitlines()]
    assert faults_of(file, json.dumps(value, indent=2).encode()) == [
        (1, "file", "expected UTF-8 text with one record per line, found one JSON object over several lines")
    ]
    assert "a JSON array" in faults_of(file, json.dumps([value], indent=2).encode())[0][2]
    assert "the lines end in CR only" in faults_of(file, as_bytes(GOOD).replace(b"\n", b"\r"))[0][2]


def test_a_line_longer_than_the_limit_is_refused_and_the_next_one_still_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.imports.reading.LONGEST_LINE", 5000)
    found = checked(None, write(file, spoiled(2, b'{"docid": "' + b"9" * 2_000_000 + b'"}\n')))
    assert [(f.line, f.field) for f in found.faults] == [(2, "line")]
    assert faults_of(file, spoiled(2, b"{}\n") + b"{}\n")[-1][0] == 6


@pytest.mark.row(26)
def test_an_object_of_100_000_keys_is_refused_in_a_few_lines(file: Path) -> None:
    many = cluster() | {f"k{n}": "" for n in range(100_000)}
    faults = faults_of(file, [many])
    assert len(faults) == 6
    assert "99995 more unknown keys" in faults[-1][2]


def test_a_declared_level_overrides_what_the_keys_show(file: Path) -> None:
    assert faults_of(file, GOOD, level="2")[0][1] in ("pico", "discourse_relation")
    assert not faults_of(file, [plain("123", "T", ("9", "S"))], level="1")
    assert faults_of(file, [plain("123", "T", ("9", "S"))], level="2")[0][:2] == (1, "docid")


@pytest.mark.parametrize("id", ["ward-7.note:12", "007", "a" * 40])
def test_documents_and_their_inputs_may_have_ids_that_are_no_pmids(project: Project, file: Path, id: str) -> None:
    [imported] = import_records(project, write(file, [plain(id, "T", (f"{id[:38]}-a", "S"))]))
    warnings = imported.warnings.values_list("message", flat=True)
    assert ("1 documents have an id that is not a PMID." in warnings) == (not id.isdecimal())
    assert [field for _, field, _ in faults_of(file, [plain(f"{id}_0", "T", (id, "S"))])] == [
        "docid",
        "input_studies[0].source_pmid",
    ]
    for wrong in ("", " ", "a b", "a/1", "a~2", "-a", "ä", "a" * 41):
        faults = faults_of(file, [plain(wrong, "T", (wrong, "S"))], level="1")
        assert [field for _, field, _ in faults] == ["docid", "input_studies[0].source_pmid"]


def test_a_file_without_docid_is_refused(file: Path) -> None:
    assert faults_of(file, b'{"question": "?"}\n')[0][1] == "docid"


def test_an_unknown_level_or_format_is_refused(file: Path) -> None:
    with pytest.raises(Problem, match="no level '4'"):
        checked(None, write(file, GOOD), level="4")


@pytest.mark.row(24)
def test_faults_leave_the_database_unchanged(project: Project, file: Path) -> None:
    found = checked(project, write(file, spoiled(5, line_of(target_direction="up"))))
    with pytest.raises(Problem, match="1 fault; nothing was imported"):
        import_files(project=project, format="m3", checked=found, by=None)
    assert not any(rows.objects.exists() for rows in (Unit, Import, Review))


@pytest.mark.row(24)
@pytest.mark.parametrize(
    ("where", "content"),
    [
        ("annotation.formats.m3.existing._add_labels", GOOD),
        ("annotation.imports.records.record", [plain("123", "T", ("9", "S"))]),
    ],
)
def test_an_import_that_fails_half_way_leaves_nothing(
    project: Project, file: Path, monkeypatch: pytest.MonkeyPatch, where: str, content: list[dict[str, object]]
) -> None:
    """The import fails before its first append-only row, or when it arrives."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(where, fail)
    with pytest.raises(RuntimeError):
        import_records(project, write(file, content))
    assert not any(rows._base_manager.exists() for rows in (Unit, Import, Review))


@pytest.mark.row(24)
def test_one_faulty_file_of_two_stops_both(project: Project, tmp_path: Path) -> None:
    good, bad = write(tmp_path / "a", GOOD), write(tmp_path / "b", b"{")
    with pytest.raises(Problem):
        import_records(project, good, bad)
    assert not Cluster.objects.exists()


@pytest.mark.row(27)
def test_two_files_with_the_same_docid_and_other_content_stop_both(project: Project, tmp_path: Path) -> None:
    one = write(tmp_path / "a", GOOD)
    two = write(tmp_path / "b", [cluster("26258610_9"), cluster("26258610_3", target_direction="negative")])
    with pytest.raises(Problem) as refused:
        import_records(project, one, two)
    assert refused.value.errors[0] == {"field": "b:2: docid", "message": 'line 4 of a already has "26258610_3"'}
    assert not Cluster.objects.exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255), cut=st.booleans())
def test_one_spoiled_byte_is_a_fault_or_other_content_and_never_a_crash(
    file: Path, db: None, at: int, byte: int, cut: bool
) -> None:
    content = bytearray(as_bytes(GOOD))
    at %= len(content)
    content[at] = byte
    spoilt = bytes(content[:at] if cut else content)
    found = checked(None, write(file, spoilt))
    if not found.faults:
        items = found.parsed[0][1].counts()["items"]
        assert items == spoilt.count(b"\n") + (not spoilt.endswith(b"\n"))
    for fault in found.faults:
        assert fault.line >= 1
        assert fault.field
        assert str(fault).startswith(f"{file.name}:{fault.line}: {fault.field}: ")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300))
@pytest.mark.row(25)
def test_any_bytes_at_all_are_refused_with_a_fault(file: Path, db: None, content: bytes) -> None:
    assert checked(None, write(file, content)).faults
