"""Nobody sees or uses a row of an import before its last batch (docs/decisions/0026-arriving-imports.md)."""

import re
import uuid
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone

from accounts.models import User
from annotation.documents.actions import queue_documents
from annotation.models import Cluster, Inclusion, Input, Label, Level, PicoElement, Proposition, Review, Study, Target
from projects import kinds
from projects.jobs.batches import silent
from projects.jobs.running import run_job
from projects.models import Decision, Import, ImportState, Job, Member, Origin, Unit
from projects.stored_figures import registry
from releases.publishing.actions import write_release
from tests.config.other_project import OtherProject, make_other_project
from tests.config.routes import CASES, api_routes, client_of

pytestmark = pytest.mark.django_db
#: The list of imports, and a reply that depends on the time.
OWN_PAGES = {"projects/<slug:slug>/imports/", "jobs/<int:job_id>/"}
LISTS = {f"projects/<slug:slug>/{name}/" for name in ("clusters", "materials/<slug:key>", "search", "outputs")}
#: The time of the request, in some replies.
TIME = re.compile(rb'"as_of":"[^"]*"')
WORDS = "zebrafish"


@pytest.fixture
def other(tmp_path: Path, settings: Any) -> OtherProject:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_other_project()


def everything(other: OtherProject, people: list[User], folder: Path) -> dict[str, Any]:
    """Return all replies to these people, the figures, the units that rounds can have, and the bytes of a release."""
    project = other.project
    shown: dict[str, Any] = {}
    for user in people:
        client = client_of(user)
        for route in api_routes():
            if "get" in route.methods and route.pattern in CASES and route.pattern not in OWN_PAGES:
                ids = {"slug": project.slug} if "<slug:slug>" in route.pattern else {}
                address = route.address(ids | CASES[route.pattern](other))
                for query in ("", f"?search={WORDS}") if route.pattern in LISTS else ("",):
                    reply: Any = client.get(address + query)
                    body = b"".join(reply.streaming_content) if reply.streaming else reply.content
                    shown[f"{user.email} {route.pattern}{query}"] = reply.status_code, TIME.sub(b"", body)
    for figures in registry.every():
        shown[f"figures {figures.key}"] = figures.compute(project, silent)
    for kind in kinds.all_kinds():
        units = kind.units(project)
        shown[f"units {kind.key}"] = sorted(units.values_list("pk", flat=True))
    shown["manifest"] = release(other, folder)
    shown["files"] = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return shown


def release(other: OtherProject, folder: Path) -> dict[str, Any]:
    with patch("releases.publishing.actions.snapshot", nullcontext):
        return write_release(project=other.project, version="9.0.0", out=folder)


def begin_import(other: OtherProject) -> Import:
    """Write all rows of an import, as the importer does before its last step."""
    project, review, study = other.project, other.cluster.review, other.study
    imported = Import.objects.create(
        project=project,
        format="m3",
        level="3",
        file_name="large.jsonl",
        sha256="0" * 64,
        size=1,
        state=ImportState.ARRIVING,
        report={"totals": {}, "values": {}, "notices": []},
        created_by=other.owner,
        created_at=timezone.now(),
    )

    def unit(type: str, key: str, **place: Any) -> Unit:
        return Unit.objects.create(project=project, type=type, key=key, imported=imported, **place)

    about: dict[str, Any] = {"project": project, "imported": imported}
    # The study exists. Another one, and another review, are new.
    new_review = Review.objects.create(pmid="90001", title=WORDS, abstract=WORDS, unit=unit("review", "90001"), **about)
    new_study = Study.objects.create(pmid="90002", title=WORDS, abstract=WORDS, **about)
    for order, (of, included) in enumerate([(review, new_study), (new_review, new_study), (new_review, study)]):
        Inclusion.objects.create(review=of, study=included, position=90 + order, imported=imported)
    for number, of in enumerate([review, new_review]):
        for level, type in ((Level.DOCUMENT, "target document"), (Level.SENTENCE, "target sentence")):
            key = f"{of.pmid}_{WORDS}"
            target = Target.objects.create(
                review=of, level=level, key=key, position=900 + number, text=WORDS, unit=unit(type, key), **about
            )
            Input.objects.create(target=target, study=study, position=1, text=WORDS)
        key = f"{of.pmid}_9"
        cluster = Cluster.objects.create(
            review=of, key=key, position=900 + number, unit=unit("cluster", key), search=WORDS, **about
        )
        for element in "pico":
            PicoElement.objects.create(cluster=cluster, element=element, form="reworded", text=WORDS)
        for position, source in ((0, None), (1, study)):
            place = unit("proposition", f"{key}/{position}", context=cluster.unit_id, position=position)
            Proposition.objects.create(cluster=cluster, position=position, study=source, text=WORDS, unit=place)
            Label.objects.create(unit=place, imported=imported, polarity="positive", modality="strong")
            Decision.objects.create(
                unit=place,
                kind="label",
                field="polarity",
                origin=Origin.IMPORTED,
                imported=imported,
                decided_at=timezone.now(),
            )
    return imported


@pytest.mark.long
def test_an_arriving_import_changes_no_reply_and_no_released_byte(other: OtherProject, tmp_path: Path) -> None:
    curator = User.objects.create_user(email="curator@example.org", name="Cura Tor")
    Member.objects.create(project=other.project, user=curator, role="curator", pseudonym="C1")
    people = [other.owner, curator, other.worker.user]
    next_cards = {user: client_of(user).get(f"/api/v1/rounds/{other.round.pk}/next/") for user in people}
    assert next_cards[other.worker.user].status_code == 200
    release(other, tmp_path / "first")  # makes an audit checkpoint
    before = everything(other, people, tmp_path / "before")
    imported = begin_import(other)
    during = everything(other, people, tmp_path / "during")
    assert [name for name in before if during[name] != before[name]] == []
    addresses = own_addresses(imported)
    assert {client_of(other.owner).get(address).status_code for address in addresses} == {404}

    Import.objects.filter(pk=imported.pk).update(state=ImportState.ARRIVED)
    after = everything(other, people, tmp_path / "after")
    changed = {name for name in before if after[name] != before[name]}
    assert {"figures corpus", "figures flow", "figures levels", "files", "units label", "units screen"} <= changed
    by_lead = {name.split()[1] for name in changed if name.startswith(other.owner.email)}
    assert {
        "projects/<slug:slug>/clusters/",
        "projects/<slug:slug>/clusters/states/",
        "projects/<slug:slug>/materials/<slug:key>/",
        "reviews/<int:review_id>/",
        "reviews/<int:review_id>/curation/",
        "studies/<int:study_id>/",
    } <= by_lead
    assert {client_of(other.owner).get(address).status_code for address in addresses} == {200}


def own_addresses(imported: Import) -> list[str]:
    """Return the pages of the import's own rows."""
    cluster = Cluster.with_arriving.filter(imported=imported)[0]
    return [
        f"/api/v1/clusters/{cluster.pk}/",
        f"/api/v1/units/{cluster.unit_id}/place/",
        f"/api/v1/reviews/{Review.with_arriving.get(imported=imported).pk}/",
        f"/api/v1/studies/{Study.with_arriving.get(imported=imported).pk}/",
    ]


def test_a_person_who_adds_a_review_meanwhile_is_told_which_import_to_wait_for(other: OtherProject) -> None:
    begin_import(other)
    address = f"/api/v1/projects/{other.project.slug}/reviews/"
    body = {"pmid": "90001", "title": "A review", "uuid": str(uuid.uuid4())}
    reply = client_of(other.owner).post(address, body, format="json")
    assert (reply.status_code, reply.json()["type"]) == (409, "/problems/import-arriving")
    assert "The import of large.jsonl is still running" in reply.json()["detail"]


def test_a_job_that_adds_rows_waits_until_the_import_has_arrived(other: OtherProject) -> None:
    imported = begin_import(other)
    review = other.cluster.review
    sections = [{"label": "Conclusions", "category": "CONCLUSIONS", "start": 0, "end": 9}]
    Review.objects.filter(pk=review.pk).update(abstract="It helps.", sections=sections)
    Study.objects.filter(pk=other.study.pk).update(abstract="It helped.")
    Inclusion.objects.create(review=review, study=other.study, position=0)
    job = queue_documents(project=other.project, by=other.owner)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.attempts, job.note) == ("queued", 0, "Waiting for the import of large.jsonl")

    Import.objects.filter(pk=imported.pk).update(state=ImportState.ARRIVED)
    Job.objects.filter(pk=job.pk).update(not_before=None)
    run_job(job.pk)
    job.refresh_from_db()
    assert job.status == "done"
