"""An import does not block others: slow work is done before the transaction, and texts have limits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.counterfactuals import check
from annotation.clusters.strata import CLAIM, CUE, DOCUMENT, ELEMENT
from annotation.formats.m3 import existing, notices, records
from annotation.imports import actions as imports_actions
from annotation.imports.writing import Writing
from annotation.models import Cluster, Counterfactual, Proposition
from api.problems import Conflict
from measures import spans
from projects.jobs import batches, jobs
from projects.jobs.running import RunningJob, run_job
from projects.models import Import, Job, JobStatus, Project
from projects.uploads.faults import BadFiles
from tests.annotation.m3_files import as_bytes, checked, cluster, faults_of, import_records, plain, source, write
from tests.concurrency import Background, outside_the_job
from tests.growth import seconds

pytestmark = pytest.mark.row(55)


@pytest.mark.parametrize(
    ("record", "field", "length", "most"),
    [
        (cluster(target_text="a" * (CLAIM + 1)), "target_text", CLAIM + 1, CLAIM),
        (cluster(studies=[source("a" * (CLAIM + 1))]), "input_studies[0].source_text", CLAIM + 1, CLAIM),
        (cluster(target_direction_span="a" * (CUE + 1)), "target_direction_span", CUE + 1, CUE),
        (
            cluster(studies=[source(source_modality_span="a" * (CUE + 1))]),
            "input_studies[0].source_modality_span",
            CUE + 1,
            CUE,
        ),
        (cluster(pico={"p": "", "i": "a" * (ELEMENT + 1), "c": "", "o": ""}), "pico.i", ELEMENT + 1, ELEMENT),
        (plain("26258610", "a" * (DOCUMENT + 1), ("1", "b")), "target_text", DOCUMENT + 1, DOCUMENT),
        (plain("26258610", "a", ("1", "b" * (DOCUMENT + 1))), "input_studies[0].source_text", DOCUMENT + 1, DOCUMENT),
    ],
)
def test_a_text_has_a_greatest_length(file: Path, record: Any, field: str, length: int, most: int) -> None:
    assert faults_of(file, [record]) == [(1, field, f"{length:,} characters; expected at most {most:,}")]


def test_imports_limit_inputs_of_an_item_and_texts_and_bytes_of_a_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_INPUTS", 3)
    many = [source(pmid=str(n)) for n in range(1, 5)]
    assert faults_of(file, [cluster(studies=many)]) == [(1, "input_studies", "4 inputs; expected at most 3")]


def test_counterfactuals_are_as_short_as_the_targets_that_they_are_of(corpus: Project, file: Path) -> None:
    found = write(file, f"docid,kind,text\n26258610_0,negation,{'a' * (CLAIM + 1)}\n".encode())
    parsed = imports_actions.check_files(project=corpus, format="counterfactuals", sources=[found])
    assert [(f.line, f.field) for f in parsed.faults] == [(2, "text")]


def test_the_longest_cues_in_the_longest_texts_are_found_in_a_moment(project: Project, file: Path) -> None:
    """Cue and text of one repeated letter once took a minute within the limits."""
    text, cue = "a" * CLAIM, "a" * CUE
    studies = [source(text, source_direction_span=cue, source_modality_span=cue.upper()) for _ in range(20)]
    record = cluster(studies=studies, target_text=text, target_direction_span=cue, pico=dict.fromkeys("pico", cue))
    found = write(file, [record])
    assert seconds(lambda: imports_actions.report_of(checked(project, found).parsed[0][1]), enough=4) <= 4


def test_large_gaps_in_review_numbers_are_reported_quickly() -> None:
    keys = [f"{review}_999999" for review in range(1, 2001)]
    assert seconds(lambda: list(notices.gap_notices(keys)), enough=0.5) <= 0.5
    [found] = notices.gap_notices(f"7_{n}" for n in (0, 3, 2, 5))
    assert found.message == "The file lacks numbers 1, 4 of this review."


@pytest.mark.parametrize("format", ["m3", "counterfactuals"])
def test_reading_and_locating_happen_outside_the_writing_transaction(
    corpus: Project, file: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    content = {
        "m3": as_bytes(cluster(f"7_{n}", [source(), source(pmid="222")]) for n in range(3)),
        "counterfactuals": b"docid,kind,text\n26258610_0,negation,The review shows that nepralin reduces no relapse.",
    }
    found = imports_actions.check_files(project=corpus, format=format, sources=[write(file, content[format])])
    statements: list[str] = []
    begun: list[bool] = []
    real = batches.batch

    @contextmanager
    def seen(*given: Any) -> Iterator[Any]:
        with real(*given) as far, CaptureQueriesContext(connection) as queries:
            begun.append(True)
            yield far
        begun.clear()
        statements.extend(query["sql"] for query in queries)

    monkeypatch.setattr(batches, "batch", seen)
    monkeypatch.setattr(spans, "locate", _not_since(begun, spans.locate))
    monkeypatch.setattr("annotation.formats.counterfactuals.check", _not_since(begun, check))
    imports_actions.import_files(project=corpus, format=format, checked=found, by=None)
    read = [sql for sql in statements if sql.startswith("SELECT")]
    assert sum("INSERT INTO" in sql for sql in statements) >= 3
    # Whether targets of counterfactuals are still those compared, which open rounds need new units, and whether stored
    # figures are computed again already.
    assert len(read) <= 3
    assert Cluster.objects.filter(key="7_2").exists() or Counterfactual.objects.exists()


def _not_since(begun: list[bool], real: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*given: Any, **named: Any) -> Any:
        assert not begun, "it is looked for after the transaction has begun"
        return real(*given, **named)

    return checked


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "phase", ["annotation.formats.m3.notices.item_notices", "annotation.formats.m3.existing._add_labels"]
)
def test_others_can_write_while_an_import_prepares_its_rows(
    project: Project, lead: User, file: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    found = checked(project, write(file, [cluster()]))
    module, _, name = phase.rpartition(".")
    real = getattr(notices if module.endswith("notices") else existing, name)
    ended: list[bool] = []

    def meanwhile(*given: Any) -> Any:
        other = Background(lambda: User.objects.filter(pk=lead.pk).update(name="Another"))
        ended.append(other.has_ended(within=5))
        return real(*given)

    monkeypatch.setattr(phase, meanwhile)
    imports_actions.import_files(project=project, format="m3", checked=found, by=None)
    assert ended == [True]
    lead.refresh_from_db()
    assert lead.name == "Another"


def test_prepared_rows_have_reserved_ids(project: Project, tmp_path: Path, overtaken: Callable[[Any], None]) -> None:
    """Another file is imported between preparing and writing the rows."""
    overtaken([cluster("9_0", [source(pmid="9")])])
    import_records(project, write(tmp_path / "late", [cluster("8_0")]))
    import_records(project, write(tmp_path / "last", [cluster("10_0")]))
    assert set(Cluster.objects.values_list("key", flat=True)) == {"8_0", "9_0", "10_0"}
    assert Proposition.objects.count() == 6
    assert all(c.propositions.count() == 2 for c in Cluster.objects.all())


@pytest.fixture
def overtaken(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """``overtaken(records)``: these records are imported by another process before the next import writes."""
    real = Writing._store

    def by(content: Any) -> None:
        def store(self: Writing, *given: Any) -> None:
            monkeypatch.setattr(Writing, "_store", real)
            import_records(project, write(tmp_path / "faster", content))
            real(self, *given)

        monkeypatch.setattr(Writing, "_store", store)

    return by


def test_rows_imported_by_others_meanwhile_are_reused(
    project: Project, file: Path, overtaken: Callable[[Any], None]
) -> None:
    """The same study, and one of the items."""
    late = checked(project, write(file, [cluster("8_0"), cluster("8_1")]))
    overtaken([cluster("8_0"), cluster("9_0")])
    [made] = imports_actions.import_files(project=project, format="m3", checked=late, by=None)
    assert (made.counts["new"], made.counts["unchanged"]) == (1, 1)
    assert sorted(Cluster.objects.values_list("key", flat=True)) == ["8_0", "8_1", "9_0"]


def test_a_concurrently_imported_item_with_other_content_stops_the_import(
    project: Project, file: Path, overtaken: Callable[[Any], None]
) -> None:
    late = checked(project, write(file, [cluster("8_0"), cluster("8_1")]))
    overtaken([cluster("8_0", target_direction="negative")])
    with pytest.raises(BadFiles):
        imports_actions.import_files(project=project, format="m3", checked=late, by=None)
    assert set(Cluster.objects.values_list("key", flat=True)) == {"8_0"}


def test_the_same_file_imported_concurrently_is_a_conflict(
    project: Project, file: Path, overtaken: Callable[[Any], None]
) -> None:
    late = checked(project, write(file, [cluster("8_0")]))
    overtaken([cluster("8_0")])
    with pytest.raises(Conflict, match="in the meantime"):
        imports_actions.import_files(project=project, format="m3", checked=late, by=None)
    assert Cluster.objects.count() == 1


@pytest.mark.parametrize(("kind", "note"), [("check", "reading"), ("import", "reading"), ("import", "writing labels")])
def test_a_check_or_an_import_is_cancelled_while_it_works(
    project: Project,
    lead: User,
    client_of: Callable[[User], APIClient],
    tmp_path: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    note: str,
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    ticks = iter(range(10_000))
    monkeypatch.setattr("projects.jobs.running.time.monotonic", lambda: float(next(ticks)))
    real = RunningJob.progress

    def cancelled(self: RunningJob, done: int, total: int | None = None, told: str = "") -> None:
        if told == note:
            with outside_the_job():
                jobs.cancel(Job.objects.get(pk=self.job.pk))
        real(self, done, total, told)

    client = client_of(lead)
    body = {"format": "m3", "file": SimpleUploadedFile("a.jsonl", as_bytes(cluster(f"1_{n}") for n in range(9)))}
    check = client.post("/api/v1/projects/eye/imports/", body, format="multipart").json()["id"]
    if kind == "import":
        run_job(check)
        confirmed = client.post("/api/v1/projects/eye/imports/confirm/", {"job": check}, format="json")
        check = confirmed.json()["id"]
    monkeypatch.setattr(RunningJob, "progress", cancelled)
    assert run_job(check)
    assert Job.objects.get(pk=check).status == JobStatus.CANCELLED
    monkeypatch.undo()
    for withdrawal in Job.objects.filter(kind="withdraw_import"):
        assert run_job(withdrawal.pk)
    assert not Cluster._base_manager.exists()
    assert not Import.objects.exists()


def test_texts_within_the_limits_are_imported(file: Path, project: Project) -> None:
    whole = cluster(target_text="a" * CLAIM, target_direction_span="a" * CUE)
    assert checked(project, write(file, [whole])).parsed[0][1].counts()["new"] == 1
