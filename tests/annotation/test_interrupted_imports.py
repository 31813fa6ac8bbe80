"""An import that is killed continues where it stopped; one that is withdrawn leaves nothing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.formats.m3.stream import M3Stream
from annotation.imports import passes, withdrawal, writing
from annotation.imports.actions import check_files, import_files
from annotation.imports.uploads import CorpusUpload
from annotation.models import Cue, Inclusion, Input, Label, Proposition, Review, Sentence, Study, Target
from api.problems import Conflict
from audit.row_digests import SETTLED
from projects.jobs.running import run_job
from projects.models import Decision, Import, Job, Project
from projects.people.actions import create_project
from projects.uploads import files
from projects.uploads.actions import start_write
from projects.uploads.faults import BadFiles
from projects.uploads.files import Source
from tests.annotation.m3_files import as_bytes, cluster, import_records, plain, source, write
from tests.annotation.pubmed_files import article, as_xml

pytestmark = [pytest.mark.django_db, pytest.mark.row(24)]
CLUSTERS = [cluster(f"{7 + n // 3}_{n % 3}", [source(pmid=str(100 + n % 5)), source(pmid="9")]) for n in range(12)]
DOCUMENTS = [
    plain(str(7 + n), f"Target {n}", *((str(100 + n % 5 + i), f"Text {n} {i}") for i in range(2))) for n in range(12)
]
BOTH = pytest.mark.parametrize("records", [CLUSTERS, DOCUMENTS], ids=["level 3", "level 1"])


class Killed(BaseException):
    """Nothing runs after it: no withdrawal."""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "MOST_ROWS", 25)


@pytest.fixture
def killed_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """``killed_after(n)``: the next import is killed before its batch n + 1."""
    store, withdraw = writing.Writing._store, writing.Writing._withdraw

    def plan(batches: int) -> None:
        left = [batches]

        def counted(self: Any, *given: Any) -> None:
            if not left[0]:
                monkeypatch.setattr(writing.Writing, "_store", store)
                raise Killed
            left[0] -= 1
            store(self, *given)

        monkeypatch.setattr(writing.Writing, "_store", counted)
        monkeypatch.setattr(
            writing.Writing, "_withdraw", lambda self, reason: None if reason == "Killed" else withdraw(self, reason)
        )

    return plan


def rows(project: Project) -> dict[str, list[Any]]:
    """Return the content and order of all rows, without ids."""
    return {
        "reviews": list(Review.objects.filter(project=project).values_list("pmid", "unit__key", "abstract")),
        "studies": list(Study.objects.filter(project=project).values_list("pmid")),
        "links": list(
            Inclusion.objects.filter(review__project=project)
            .order_by("review__pmid", "position")
            .values_list("review__pmid", "study__pmid", "position", "role")
        ),
        "targets": list(Target.objects.filter(project=project).values_list("key", "text", "position", "unit__key")),
        "inputs": list(
            Input.objects.filter(target__project=project)
            .order_by("target__position", "position")
            .values_list("target__key", "position", "study__pmid", "text")
        ),
        "claims": list(
            Proposition.objects.filter(cluster__project=project)
            .order_by("cluster__position", "position")
            .values_list("cluster__key", "cluster__position", "position", "study__pmid", "text", "unit__key")
        ),
        "labels": list(
            Label.objects.filter(unit__project=project)
            .order_by("pk")
            .values_list("unit__key", "polarity", "modality", "cues__text")
        ),
        "decisions": list(
            Decision.objects.filter(unit__project=project).order_by("pk").values_list("unit__key", "kind", "field")
        ),
        "import": list(Import.objects.filter(project=project).values_list("counts", "report", "state")),
        "warnings": list(Import.objects.filter(project=project).values_list("warnings__kind", "warnings__item")),
    }


def import_unchecked(project: Project, *sources: Source) -> None:
    """Import files that are checked only while they are written, as a job does."""
    found = check_files(project=project, format="m3", sources=sources, preview=False)
    import_files(project=project, format="m3", checked=found, by=None)


def count_all() -> dict[str, int]:
    names = ("annotation", "projects")
    models = [model for name in names for model in apps.get_app_config(name).get_models()]
    return {m._meta.label: m._base_manager.count() for m in models if m is not Job}


@BOTH
@pytest.mark.parametrize("batches", [(1, 1), (2, 3), (4, 1)])
def test_an_import_killed_twice_has_the_rows_of_an_undisturbed_one(
    project: Project,
    lead: User,
    tmp_path: Path,
    records: list[Any],
    batches: tuple[int, int],
    killed_after: Callable[[int], None],
) -> None:
    other = create_project(slug="other", name="Other", by=lead)
    files = [write(tmp_path / "a", records[:7]), write(tmp_path / "b", records[7:])]
    import_records(other, *files)
    for number in batches:
        killed_after(number)
        with pytest.raises(Killed):
            import_records(project, *files)
        assert not Review.objects.filter(project=project).exists()
    import_records(project, *files)
    assert rows(project) == rows(other)
    call_command("verify_audit")


@BOTH
@pytest.mark.parametrize("batches", [1, 3])
def test_a_withdrawn_import_leaves_all_tables_as_they_were(
    project: Project,
    tmp_path: Path,
    records: list[Any],
    batches: int,
    killed_after: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A study and a review that existed before stay. A killed withdrawal is continued."""
    import_records(project, write(tmp_path / "before", [records[0], plain("99", "T", ("100", "S"))][:1]))
    before = count_all()
    killed_after(batches)
    with pytest.raises(Killed):
        import_records(project, write(tmp_path / "a", records[1:]))
    assert count_all() != before
    monkeypatch.setattr(withdrawal, "BATCH", 3)
    job = withdrawal.request_withdrawal(Import.objects.get(state="arriving"), by=None)
    assert job
    real = withdrawal._batches

    def killed(imported: Import) -> Any:
        for number, each in enumerate(real(imported)):
            if number == 2:
                monkeypatch.setattr(withdrawal, "_batches", real)
                raise OSError("lost")
            yield each

    monkeypatch.setattr(withdrawal, "_batches", killed)
    assert run_job(job.pk)
    Job.objects.filter(pk=job.pk).update(not_before=None)
    assert run_job(job.pk)
    assert count_all() == before
    call_command("verify_audit")


def test_labels_that_are_being_written_cannot_be_withdrawn_but_continued(
    project: Project, tmp_path: Path, killed_after: Callable[[int], None]
) -> None:
    file = write(tmp_path / "a", CLUSTERS)
    killed_after(7)
    with pytest.raises(Killed):
        import_records(project, file)
    arriving = Import.objects.get()
    assert arriving.progress["phase"] == "finishing"
    with pytest.raises(Conflict, match="can no longer be withdrawn"):
        withdrawal.request_withdrawal(arriving, by=None)
    import_records(project, file)
    assert Cue.objects.exists()


def test_an_import_that_fails_while_labels_are_written_keeps_its_files_until_it_is_continued(
    project: Project, lead: User, client_of: Callable[[User], APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"format": "m3", "level": "", "map": ""}
    file = SimpleUploadedFile("a", as_bytes(CLUSTERS))
    job = start_write(CorpusUpload(), project=project, file=file, by=lead, params=params)
    finish, calls, client = M3Stream.finish, list[int](), client_of(lead)

    def fail_second(*given: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise Conflict("The labels cannot be written.")
        finish(*given)

    monkeypatch.setattr(M3Stream, "finish", fail_second)
    assert run_job(job.pk)
    [shown] = client.get(f"/api/v1/projects/{project.slug}/imports/").json()["results"]
    assert (shown["phase"], shown["stopped"]) == ("finishing", "The labels cannot be written.")
    assert not Job.objects.exclude(pk=job.pk).exists()
    os.utime(files.path_of(job.params["upload"]), (0, 0))
    files.store(SimpleUploadedFile("b", b"-"), lead)  # removes old files
    reply = client.post(f"/api/v1/imports/{shown['id']}/continue/")
    assert reply.status_code == 202, reply.json()
    assert client.post(f"/api/v1/imports/{shown['id']}/continue/").status_code == 409
    assert run_job(reply.json()["id"])
    assert Import.objects.get().state == "arrived"
    assert Label.objects.filter(unit__project=project).count() == sum(1 + len(c["input_studies"]) for c in CLUSTERS)


def test_faults_in_a_later_batch_withdraw_the_earlier_ones(project: Project, tmp_path: Path) -> None:
    """Each repeated key is named with its first line, also if that row was written already."""
    before = count_all()
    content = as_bytes([*DOCUMENTS, DOCUMENTS[0], DOCUMENTS[11]]) + b'{"docid": "99", "target_text": "an open quote\n'
    sources = [write(tmp_path / "a", content), write(tmp_path / "b", [DOCUMENTS[3]])]
    with pytest.raises(BadFiles) as refused:
        import_unchecked(project, *sources)
    assert [(f.file, f.line, f.message) for f in refused.value.faults] == [
        ("a", 13, 'line 1 already has "7"'),
        ("a", 14, 'line 12 already has "18"'),
        ("a", 15, "not JSON: Unterminated string starting at column 32"),
        ("b", 1, 'line 4 of a already has "10"'),
    ]
    assert count_all() == before


def test_a_repeated_key_of_the_project_is_also_found_after_a_resume(
    project: Project, tmp_path: Path, killed_after: Callable[[int], None]
) -> None:
    """The rows of these keys do not name the import, and the killed process has forgotten them."""
    import_records(project, write(tmp_path / "before", DOCUMENTS[:2]))
    files = [write(tmp_path / "a", DOCUMENTS[:8]), write(tmp_path / "b", [*DOCUMENTS[8:], *DOCUMENTS[:2]])]
    killed_after(2)
    with pytest.raises(Killed):
        import_unchecked(project, *files)
    with pytest.raises(BadFiles) as refused:
        import_unchecked(project, *files)
    assert [(f.file, f.line, f.message) for f in refused.value.faults] == [
        ("b", 5, 'line 1 of a already has "7"'),
        ("b", 6, 'line 2 of a already has "8"'),
    ]


@pytest.mark.parametrize("change", ["appended", "cut", "replaced"])
@BOTH
def test_a_file_that_changes_while_it_is_read_is_refused(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: list[Any], change: str
) -> None:
    file, before, handle = write(tmp_path / "a", records), count_all(), writing.Writing.handle

    def changed(self: Any, *given: Any) -> None:
        handle(self, *given)
        if change == "replaced":
            write(tmp_path / "new", records).path.replace(file.path)
        else:
            write(file.path, [*records, records[0]] if change == "appended" else records[:-1])

    monkeypatch.setattr(writing.Writing, "handle", changed)
    with pytest.raises(BadFiles, match="changed while it was read"):
        import_unchecked(project, file)
    assert count_all() == before


def test_a_full_disk_is_said_and_nothing_stays(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, store = count_all(), writing.Writing._store

    def full(self: Any, *given: Any) -> None:
        if self.batches == 2:
            raise OSError(28, "No space left on device")
        store(self, *given)

    monkeypatch.setattr(writing.Writing, "_store", full)
    with pytest.raises(Conflict, match="disk of the server is full"):
        import_records(project, write(tmp_path / "a", DOCUMENTS))
    assert count_all() == before


def test_a_second_import_waits_for_the_first(
    project: Project, tmp_path: Path, killed_after: Callable[[int], None]
) -> None:
    killed_after(1)
    with pytest.raises(Killed):
        import_records(project, write(tmp_path / "a", DOCUMENTS))
    with pytest.raises(Conflict, match="The import of a is still running"):
        import_records(project, write(tmp_path / "b", CLUSTERS))


def test_an_import_begun_over_a_day_ago_can_only_be_withdrawn(
    project: Project, tmp_path: Path, killed_after: Callable[[int], None]
) -> None:
    file = write(tmp_path / "a", DOCUMENTS)
    killed_after(1)
    with pytest.raises(Killed):
        import_records(project, file)
    Import.objects.update(created_at=timezone.now() - SETTLED)
    with pytest.raises(Conflict, match="Withdraw it"):
        import_records(project, file)
    assert Import.objects.filter(state="arriving").exists()


def import_pubmed(project: Project, path: Path, content: bytes, level: str = "reviews", **about: str) -> None:
    path.write_bytes(content)
    sources = [Source.of(path)]
    found = check_files(project=project, format="pubmed", sources=sources, level=level, about=about, preview=False)
    import_files(project=project, format="pubmed", checked=found, by=None)


def pubmed_rows(project: Project) -> dict[str, list[Any]]:
    shown = rows(project)
    del shown["import"]
    for model, name in ((Review, "review"), (Study, "study")):
        values = model._base_manager.filter(project=project).order_by("pmid")
        shown[name] = list(values.values_list("pmid", "title", "abstract", "record"))
        sentences = Sentence.objects.filter(**{f"{name}__project": project}).order_by(f"{name}__pmid", "number")
        shown[f"sentences of {name}"] = list(sentences.values_list(f"{name}__pmid", "number", "text"))
    return shown


@pytest.mark.parametrize("batches", [(1, 1), (2, 3), (4, 5)])
def test_pubmed_records_killed_twice_are_those_of_an_undisturbed_import(
    project: Project, lead: User, tmp_path: Path, batches: tuple[int, int], killed_after: Callable[[int], None]
) -> None:
    """Newer versions and repeated records come in the file after the batch of the first."""
    newer = article("21", title="Newer").replace('Version="1"', 'Version="2"')
    content = as_xml([*(article(str(20 + n)) for n in range(30)), newer, article("25")])
    other = create_project(slug="other", name="Other", by=lead)
    for each in (other, project):
        import_pubmed(each, tmp_path / "reviews", as_xml([article("1")]))
        import_pubmed(each, tmp_path / "known", b"pmid,title,review\n22,Own title,1\n", "studies")
    import_pubmed(other, tmp_path / "a", content, "studies", review="1")
    for number in batches:
        killed_after(number)
        with pytest.raises(Killed):
            import_pubmed(project, tmp_path / "a", content, "studies", review="1")
        assert Study.objects.filter(project=project).count() == 1
    import_pubmed(project, tmp_path / "a", content, "studies", review="1")
    assert pubmed_rows(project) == pubmed_rows(other)
    assert Study.objects.get(project=project, pmid="21").title == "Newer"
    counts = [list(p.imports.order_by("pk").values_list("counts", "report")) for p in (project, other)]
    assert counts[0] == counts[1]
    call_command("verify_audit")


@pytest.mark.parametrize("batches", [1, 3])
def test_withdrawn_pubmed_records_leave_all_tables_as_they_were(
    project: Project, tmp_path: Path, batches: int, killed_after: Callable[[int], None]
) -> None:
    import_pubmed(project, tmp_path / "before", b"pmid\n20\n21\n")
    before, values = count_all(), list(Review.objects.values())
    killed_after(batches)
    with pytest.raises(Killed):
        import_pubmed(project, tmp_path / "a", as_xml([article(str(20 + n)) for n in range(40)]))
    assert count_all() != before
    job = withdrawal.request_withdrawal(Import.objects.get(state="arriving"), by=None)
    assert job
    assert run_job(job.pk)
    assert (count_all(), list(Review.objects.values())) == (before, values)
    call_command("verify_audit")
