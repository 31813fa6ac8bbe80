"""Imported summaries: three file formats, read row by row, with all faults named."""

import csv
import io
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from generation import backends
from generation.backends.identity import checked
from generation.backends.imported.storage import keep, survey_upload
from generation.backends.imported.survey import Location, Survey, survey
from generation.backends.protocol import BackendError, Failure, Finish, InputText, Output, Source
from generation.imported_runs import actions as imported_runs_actions
from generation.models import UnitLevel
from generation.sources import first_key, matching_keys, materials, units_of
from projects.models import Project
from projects.spreadsheets.cells import is_missing
from projects.uploads.faults import Faults
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.generation.workers import Killed, lapse, work

Client = Callable[[User], APIClient]
CSV = b'key,text\n1_0,It helps.\n1_1,"It, they say, ""helps"".\nA second line."\n'


@pytest.fixture(autouse=True)
def files(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    return tmp_path / "files"


def places(path: Path) -> tuple[Survey, dict[str, Location]]:
    """A faultless file and its index."""
    index = path.with_suffix(".index")
    index.unlink(missing_ok=True)
    _, wrong = survey(path, "outputs", index)
    assert not wrong, list(map(str, wrong))
    found = Survey(path, index)
    keys = [key for group in found.in_groups() for _, key in group]
    return found, {key: place for key in keys if (place := found.find(key))}


def texts(path: Path) -> dict[str, str]:
    found, there = places(path)
    with closing(found):
        return {key: found.text(place) for key, place in there.items()}


def wrong_with(path: Path, name: str = "outputs") -> Faults:
    index = path.with_suffix(".index")
    index.unlink(missing_ok=True)
    return survey(path, name, index)[1]


def take_in(file: Path) -> str:
    with survey_upload(file, file.name) as (about, wrong, index):
        assert not wrong
        keep(file, index, about)
    return about.sha256


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "outputs"
    path.write_bytes(content)
    return path


def faults(tmp_path: Path, content: bytes) -> list[str]:
    return [str(fault) for fault in wrong_with(written(tmp_path, content))]


@pytest.mark.long
@pytest.mark.row(26)
def test_an_endless_record_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    for cells in (b'"\n",' * 1_500_000, b"a," * 3_000_000):
        [said] = faults(tmp_path, b"key,text\n" + cells)
        assert "is not closed" in said or "the row is longer than the limit of 4 MiB" in said


def test_a_csv_has_keys_and_texts_line_breaks_within_quotes_included(tmp_path: Path) -> None:
    path = written(tmp_path, CSV)
    assert texts(path) == {"1_0": "It helps.", "1_1": 'It, they say, "helps".\nA second line.'}
    found, there = places(path)
    assert [place.line for place in there.values()] == [2, 3]
    assert (found.about.format, found.about.sha256, found.about.outputs) == ("csv", sha256(CSV).hexdigest(), 2)
    assert found.find("1_2") is None


def test_mslr_predictions_are_read_as_they_are_published(tmp_path: Path) -> None:
    published = b',ReviewID,Generated\n0,30760312,"Line one.\n\nLine three."\n1,18843666,\n2,7,x\n'
    assert texts(written(tmp_path, published)) == {"30760312": "Line one.\n\nLine three.", "18843666": "", "7": "x"}


@pytest.mark.parametrize(
    "line",
    [
        {"key": "1_0", "text": "It helps."},
        {"docid": "1_0", "summary": "It helps.", "score": [1, {"text": 2}]},
        {"ReviewID": "1_0", "Generated": "It helps."},
    ],
)
def test_json_lines_may_name_their_fields_as_the_published_data_sets_do(tmp_path: Path, line: dict[str, Any]) -> None:
    content = "\n".join(map(json.dumps, [line, {"key": 42, "text": "Two\nlines."}])).encode()
    assert texts(written(tmp_path, content)) == {"1_0": "It helps.", "42": "Two\nlines."}


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_a_text(tmp_path: Path) -> None:
    content = '\ufeffkey,text\r\na,one\r\n\r\nb,"two\r\nthree"\r\n'.encode()
    assert texts(written(tmp_path, content)) == {"a": "one", "b": "two\r\nthree"}
    assert texts(written(tmp_path, '\ufeff{"key": "a", "text": "β"}\r\n'.encode())) == {"a": "β"}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "outputs:1: file: the file is empty"),
        (b"key,text\n", "outputs:1: file: the file contains no output"),
        (b"id,words\n1,x\n", "outputs:1: header: expected one column named text or generated"),
        (b"key,docid,text\n1,1,x\n", "found 'key', 'docid'"),
        (b"key|text\n1|x\n", "found none; the header is 'key|text'"),
        (b"PK\x03\x04\x14\x00", "found a ZIP archive (or an Office document): save the file in such a format"),
        (b"key,text\na,x,y\n", "outputs:2: line: expected 2 cells, found 3; a text with commas needs quotes"),
        (b'key,text\na,x\nb,"never closed\n', "outputs:3: text: the quotation mark that opens this cell is not"),
        (b'key,text\na,x\nb,"y"z\n', "outputs:3: text: a quotation mark opens this cell, and text"),
        (b"key,text\na,x\rb,y\r", "outputs:2: line: a carriage return inside a cell; its text needs quotes"),
        (b"key,text\na,caf\xe9\n", "outputs:2: line: byte 0xE9 at byte 6 of the line (14 from"),
        ("key,text\na,x\n".encode("utf-16"), "outputs:1: file: expected CSV or JSON lines in UTF-8, found UTF-16"),
        (b"key,text\na,x\x00y\n", "outputs:2: text: a NUL character at character 2"),
        (b'key,text\n"a\nb\x00",x\n', "outputs:2: key: a NUL character at character 4"),
        (b"key,text\n ,x\n", "outputs:2: key: an empty key"),
        (b"key,text\na,x\nb,y\na,z\n", "outputs:4: key: duplicate key 'a', first on line 2"),
        (b"key,text\na," + b"x" * 100_001 + b"\n", "outputs:2: text: 100001 characters; the maximum is 100000"),
        (b'{"key": "a", "text": "x"}\n{"key": "a", "text": "y"}', "outputs:2: key: duplicate key 'a', first on line 1"),
        (b'{"key": "a"}', "outputs:1: text: expected one field named text or"),
        (b'{"key": "a", "text": "x", "summary": "y"}', "found 'text', 'summary'"),
        (b'{"key": "a", "text": 3}', "outputs:1: text: expected a text"),
        (b'{"key": true, "text": "x"}', "outputs:1: key: expected a text"),
        (b'{"key": "a", "Summary": null}', "outputs:1: Summary: expected a text"),
        (b'{"key": "a", "text": "x\\u0000"}', "outputs:1: text: a NUL character"),
        (b'{"key": "a", "text": "\\ud800"}', "outputs:1: text: half a surrogate pair"),
        (b'{"key": "a", "text": "x"}\n[1]\n', "outputs:2: line: expected a JSON object"),
        (b'{"key": "a", "text": "x"}\n{"key": "b", "text": "y', "outputs:2: text: the file seems truncated"),
    ],
)
def test_faults_are_named_by_line_and_field(tmp_path: Path, content: bytes, fault: str) -> None:
    found = faults(tmp_path, content)
    assert len(found) == 1
    assert fault in found[0]


def test_all_faults_of_a_file_are_found_at_once(tmp_path: Path) -> None:
    found = faults(tmp_path, b"key,text\na,x\na,y\n,z\nb\nc,\x00\nd,fine\n")
    assert [fault.split(":")[1] for fault in found] == ["3", "4", "5", "6"]


def test_european_separators_and_unquoted_files_are_read(tmp_path: Path) -> None:
    assert texts(written(tmp_path, b'sep=;\nkey;text\na;3,5 mg\nb;"two\nlines"\n')) == {
        "a": "3,5 mg",
        "b": "two\nlines",
    }
    content = b'key\ttext\na\t"Drug A" helps.\nb\t"Drug B"\n'
    assert texts(written(tmp_path, content)) == {"a": '"Drug A" helps.', "b": '"Drug B"'}


def test_blank_keys_and_missing_texts_are_skipped_with_a_warning(tmp_path: Path) -> None:
    path = written(tmp_path, b"id,summary\n26258610 ,Text one\n1,\n2,nan\n3,   \n4,NaN\n5,nano\n")
    assert texts(path) == {"26258610": "Text one", "1": "", "3": "   ", "5": "nano"}
    about, wrong = survey(path, "outputs", tmp_path / "index")
    assert not wrong
    assert about.warnings == [
        "Blanks around the key are removed. (1 row, the first on line 2)",
        "The output is empty. (2 rows, the first on line 3)",
        "The text is nan, which programs write for a missing value: the row is skipped. (2 rows, the first on line 4)",
    ]


def test_an_index_of_earlier_rules_is_still_read(tmp_path: Path) -> None:
    path, index = written(tmp_path, CSV), tmp_path / "index"
    survey(path, "outputs", index)
    with closing(sqlite3.connect(index)) as made:
        about = json.loads(made.execute("SELECT json FROM about").fetchone()[0])
        known = {name: about[name] for name in ("sha256", "size", "format", "head", "outputs")}
        made.execute("UPDATE about SET json = ?", (json.dumps(known | {"reader": "concord-outputs 1"}),))
        made.commit()
    with closing(Survey(path, index)) as found:
        place = found.find("1_1")
        assert place
        assert found.text(place) == 'It, they say, "helps".\nA second line.'


STORABLE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
PAIRS = st.dictionaries(
    STORABLE.map(str.strip).filter(bool), STORABLE.filter(lambda text: not is_missing(text)), min_size=1, max_size=8
)


@given(PAIRS, st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]), st.sampled_from(["\n", "\r\n"]))
def test_every_csv_that_is_written_is_read_back_text_by_text(
    tmp_path_factory: pytest.TempPathFactory, pairs: dict[str, str], quoting: int, ending: str
) -> None:
    out = io.StringIO(newline="")
    # csv leaves lone carriage returns unquoted under QUOTE_MINIMAL only if they are its own line ending.
    writer = csv.writer(
        out,
        quoting=quoting if "\r" not in "".join([*pairs, *pairs.values()]) else csv.QUOTE_ALL,  # type: ignore[arg-type]
        lineterminator=ending,
    )
    writer.writerow(["", "ReviewID", "Generated"])
    writer.writerows([number, *pair] for number, pair in enumerate(pairs.items()))
    path = tmp_path_factory.mktemp("csv") / "outputs"
    path.write_bytes(out.getvalue().encode())
    assert texts(path) == pairs


@given(PAIRS, st.booleans())
def test_every_json_lines_file_that_is_written_is_read_back_text_by_text(
    tmp_path_factory: pytest.TempPathFactory, pairs: dict[str, str], ascii_only: bool
) -> None:
    lines = (json.dumps({"key": key, "text": text}, ensure_ascii=ascii_only) + "\n" for key, text in pairs.items())
    path = tmp_path_factory.mktemp("jsonl") / "outputs"
    path.write_bytes("".join(lines).encode())
    assert texts(path) == pairs


@given(st.one_of(st.binary(max_size=80), st.binary(max_size=60).map(lambda rest: b"key,text\n" + rest)))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = written(tmp_path_factory.getbasetemp(), content)
    assert wrong_with(path) or texts(path)


def kept(tmp_path: Path, content: bytes) -> dict[str, Any]:
    config = {"backend": "imported", "model": {"file": take_in(written(tmp_path, content)), "name": "mine.csv"}}
    return checked(config)


def units(*keys: str) -> Sequence[Source]:
    return [Source(number, key, (InputText("x"),)) for number, key in enumerate(keys)]


def test_outputs_are_looked_up_by_key_and_missing_ones_fail_with_the_reason(tmp_path: Path, files: Path) -> None:
    config, backend = kept(tmp_path, CSV), backends.get("imported")
    facts = backend.facts(config)
    assert facts == {
        "reader": "concord-outputs 2",
        "sha256": sha256(CSV).hexdigest(),
        "name": "mine.csv",
        "format": "csv",
        "outputs": 2,
    }
    assert (files / "outputs" / facts["sha256"]).read_bytes() == CSV
    found = [one for group in backend.load(config, facts).summarise(units("1_0", "9_9", "1_1")) for one in group]
    assert found == [
        Output(0, "It helps.", Finish.UNKNOWN, record={"file": "mine.csv", "line": 2}),
        Failure(1, "The file has no output for this unit."),
        Output(2, 'It, they say, "helps".\nA second line.', Finish.UNKNOWN, record={"file": "mine.csv", "line": 3}),
    ]


def test_a_missing_changed_or_invalid_outputs_file_is_refused(tmp_path: Path, files: Path) -> None:
    config, backend = kept(tmp_path, CSV), backends.get("imported")
    facts = backend.facts(config)
    path = files / "outputs" / facts["sha256"]
    path.write_bytes(CSV + b"1_2,More.\n")
    with pytest.raises(BackendError, match="has changed since it was uploaded"):
        backend.load(config, facts)
    path.unlink()
    with pytest.raises(BackendError, match="upload it again"):
        backend.load(config, facts)
    for wrong in ("../../etc/passwd", "a" * 63, "A" * 64, "some"):
        with pytest.raises(BackendError, match="64 characters"):
            backend.facts(config | {"model": config["model"] | {"file": wrong}})


def test_keeping_the_same_file_twice_keeps_one(tmp_path: Path, files: Path) -> None:
    first = take_in(written(tmp_path, CSV))
    assert take_in(written(tmp_path, CSV)) == first
    assert sorted(path.name for path in (files / "outputs").iterdir()) == [first, f"{first}.index"]
    assert not list((files / "uploads").iterdir())


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    made = write(tmp_path / "3.jsonl", [cluster(f"1_{n}", [source("It may reduce.", "1")]) for n in range(3)])
    import_records(project, made, level="3")
    import_records(project, write(tmp_path / "1.jsonl", [plain("1", "It helps.", ("1", "Trial."))]), level="1")
    return project


def upload(client: APIClient, content: bytes, level: str = "proposition") -> Any:
    body = {"file": SimpleUploadedFile("mine.csv", content), "level": level}
    return client.post("/api/v1/projects/eye/outputs/files/", body, format="multipart")


def check(client: APIClient, content: bytes, level: str = "proposition") -> Any:
    """Return the job of an upload after a worker has run it."""
    reply = upload(client, content, level)
    assert reply.status_code == 202, reply.json()
    work()
    return client.get(f"/api/v1/jobs/{reply.json()['id']}/").json()


def test_an_upload_is_stored_and_shows_how_it_matches_the_units(
    corpus: Project, lead: User, client_of: Client, files: Path
) -> None:
    said = check(client_of(lead), CSV + b"7_7,Of another project.\n")["result"]
    assert (files / "outputs" / said.pop("sha256")).is_file()
    assert said == {
        "warnings": [],
        "name": "mine.csv",
        "format": "csv",
        "outputs": 3,
        "units": 3,
        "matched": 2,
        "unknown_total": 1,
        "unknown": [{"line": 5, "key": "7_7"}],
        "faults": {"total": 0, "listed": []},
    }
    assert (Entry.objects.get(verb="keep outputs").after or {})["outputs"] == 3


def test_an_upload_with_faults_is_not_stored_and_they_are_named(
    corpus: Project, lead: User, client_of: Client, files: Path
) -> None:
    said = check(client_of(lead), b"key,text\na,x\na,y\n")["result"]
    assert said["sha256"] == ""
    assert said["faults"] == {
        "total": 1,
        "listed": [{"file": "mine.csv", "line": 3, "field": "key", "message": "duplicate key 'a', first on line 2"}],
    }
    assert not (files / "outputs").exists()
    assert not Entry.objects.filter(verb="keep outputs").exists()


def test_an_upload_does_no_more_than_store_the_file(
    corpus: Project, lead: User, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checking a file of hundreds of megabytes takes minutes."""

    def checked(*given: Any) -> None:
        raise AssertionError("It is checked while the browser waits.")

    monkeypatch.setattr("generation.backends.imported.storage.survey", checked)
    assert upload(client_of(lead), CSV).status_code == 202


@pytest.mark.parametrize("when", ["_check_keys", "keep", "record"])
def test_another_worker_continues_the_check_of_a_dead_worker(
    when: str, corpus: Project, lead: User, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(lead)
    job = upload(client, CSV).json()["id"]
    real = getattr(imported_runs_actions, when)

    def die(*given: Any, **named: Any) -> None:
        real(*given, **named)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(imported_runs_actions, when, die)
        with pytest.raises(Killed):
            work()
    lapse()
    work()
    said = client.get(f"/api/v1/jobs/{job}/").json()
    assert (said["status"], said["result"]["matched"]) == ("done", 2)
    assert Entry.objects.filter(verb="keep outputs").count() == 1


def test_a_lost_or_outdated_index_is_rebuilt(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, backend = kept(tmp_path, CSV), backends.get("imported")
    facts = backend.facts(config)
    index = files / "outputs" / f"{facts['sha256']}.index"
    index.unlink()
    assert backend.facts(config) == facts
    index.write_bytes(b"cut off")
    assert backend.facts(config) == facts
    monkeypatch.setattr("generation.backends.imported.survey.READER", "concord-outputs 9")
    assert backend.facts(config) == facts | {"reader": "concord-outputs 9"}
    with pytest.raises(BackendError, match="concord-outputs 9"):
        backend.load(config, facts)


def test_a_text_changed_in_the_database_is_found(tmp_path: Path, files: Path) -> None:
    config, backend = kept(tmp_path, CSV), backends.get("imported")
    facts = backend.facts(config)
    (files / "outputs" / facts["sha256"]).write_bytes(CSV.replace(b"It helps", b"It harms"))
    outputs = backend.load(config, facts)
    with pytest.raises(BackendError, match="has changed since it was uploaded"):
        list(outputs.summarise(units("1_0")))
    outputs.close()


def test_a_chunk_of_a_run_reads_no_more_than_its_own_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, backend = kept(tmp_path, CSV), backends.get("imported")
    facts = backend.facts(config)
    monkeypatch.setattr("generation.backends.imported.storage.survey", None)
    with closing(backend.load(config, facts)) as loaded:
        assert [getattr(out, "text", "") for group in loaded.summarise(units("1_0")) for out in group] == ["It helps."]


@pytest.mark.parametrize(
    ("content", "level", "said"),
    [
        (
            b"key,text\n1,It helps.\n",
            "proposition",
            "No key of the file matches the clusters (propositions) of this project; an example of their keys "
            "is '1_0'. Keys of reviews (documents) (level document) in the file: 1.",
        ),
        (
            b"key,text\nx,It helps.\n",
            "sentence",
            "No key of the file matches the target sentences of this project: it has none.",
        ),
    ],
)
def test_an_upload_with_unknown_keys_is_refused_with_their_likely_level(
    content: bytes, level: str, said: str, corpus: Project, lead: User, client_of: Client, files: Path
) -> None:
    job = check(client_of(lead), content, level)
    assert (job["status"], job["error"]) == ("failed", said)
    assert job["result"]["errors"] == [{"field": "level", "message": said}]
    assert not (files / "outputs").exists()
    assert not Entry.objects.filter(verb="keep outputs").exists()


def test_leads_alone_bring_outputs(corpus: Project, ann1: User, stranger: User, client_of: Client) -> None:
    assert upload(client_of(ann1), CSV).status_code == 403
    assert upload(client_of(stranger), CSV).status_code == 404


@pytest.mark.parametrize("level", UnitLevel.values)
def test_keys_are_those_that_summarisers_are_handed(corpus: Project, level: str) -> None:
    found = materials(corpus, level, units_of(corpus, level))
    keys = {material.source.key for material in found.values()}
    assert keys == matching_keys(corpus, level, [*keys, "9_9"])
    assert first_key(corpus, level) in (keys or [None])


def test_an_outputs_file_of_another_project_is_refused(
    corpus: Project, lead: User, ann1: User, client_of: Client, files: Path
) -> None:
    """A person from whom outputs are hidden sees the hash of their file, and may create a project."""
    sha256 = check(client_of(lead), CSV)["result"]["sha256"]
    client, config = client_of(ann1), {"backend": "imported", "model": {"file": sha256}}
    assert client.post("/api/v1/projects/", {"name": "Mine", "slug": "mine"}, format="json").status_code == 201
    for user, slug, status in ((ann1, "mine", 422), (lead, "eye", 201)):
        made = client_of(user).post(f"/api/v1/projects/{slug}/systems/", {"name": "s"}, format="json").json()
        reply = client_of(user).post(f"/api/v1/systems/{made['id']}/versions/", {"config": config}, format="json")
        assert reply.status_code == status, reply.json()


def test_a_file_of_very_many_outputs_is_refused_before_memory_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.backends.imported.survey.MOST", 3)
    lines = [f"{n},Text.\n" for n in range(9)]
    assert not wrong_with(written(tmp_path, ("key,text\n" + "".join(lines[:3])).encode()))
    found = wrong_with(written(tmp_path, ("key,text\n" + "".join(lines)).encode()))
    assert [(fault.line, fault.message) for fault in found] == [(5, "more than 3 outputs, the maximum of a file")]
