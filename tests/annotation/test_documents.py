"""Documents: conclusions of each review and abstracts of its studies, created by a job and kept up to date."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.documents import actions as documents_actions
from annotation.documents import queries as documents_queries
from annotation.documents.workflow import Documents
from annotation.kinds.supersede import supersede_target
from annotation.models import Input, Level, RecordStatus, Review, Role, Study, Target
from audit import rules
from generation.sources import materials, sizes
from projects.jobs.running import run_job
from projects.models import Import, Job, Project, Unit
from tests.builders import build_cluster, include

pytestmark = pytest.mark.django_db
ABSTRACT = "RESULTS: Two trials.\nCONCLUSIONS: Nepralin helps.\nIt is safe."
CONCLUDED = {"label": "CONCLUSIONS", "category": "CONCLUSIONS", "start": 34, "end": len(ABSTRACT)}
ADDRESS = "/api/v1/projects/eye/documents/"


def review_of(project: Project, number: int, *, studies: int = 2, **said: Any) -> Review:
    unit = Unit.objects.create(project=project, type="review", key=str(100 + number))
    given = {"abstract": ABSTRACT, "sections": [CONCLUDED], "record": RecordStatus.READ} | said
    made = Review.objects.create(project=project, pmid=unit.key, unit=unit, **given)
    for n in range(studies):
        study_of(made, 1000 + 10 * number + n)
    return made


def study_of(review: Review, pmid: int, abstract: str = "Nepralin helped.") -> Study:
    study = Study.objects.create(project=review.project, pmid=str(pmid), abstract=abstract)
    include(review, study)
    return study


def picked(review: Review, number: int, text: str) -> Target:
    unit = Unit.objects.create(project=review.project, type="target sentence", key=f"{review.pmid}_{number}")
    return Target.objects.create(
        project=review.project, review=review, level=Level.SENTENCE, key=unit.key, position=number, text=text, unit=unit
    )


def made(project: Project) -> dict[str, tuple[str, list[str]]]:
    """Return text and studies of the current documents by review."""
    rows = Target.objects.current().filter(project=project, level=Level.DOCUMENT).order_by("position")
    inputs = Input.objects.current().select_related("study").order_by("position")
    return {row.key: (row.text, [i.study.pmid for i in inputs.filter(target=row)]) for row in rows}


def test_a_review_becomes_its_conclusions_or_else_what_was_picked_of_it(project: Project, lead: User) -> None:
    review_of(project, 1)
    plain = review_of(project, 2, abstract="Nepralin helps. We asked. It is safe.", sections=[])
    picked(plain, 0, "Nepralin helps.")
    picked(plain, 1, "It is safe.")
    review_of(project, 3, abstract="We asked.", sections=[])
    review_of(project, 4, studies=0)
    study_of(Review.objects.get(pmid="102"), 1099, abstract="")
    result = documents_actions.make_documents(project=project, by=lead)
    assert made(project) == {
        "101": ("Nepralin helps. It is safe.", ["1010", "1011"]),
        "102": ("Nepralin helps. It is safe.", ["1020", "1021"]),
    }
    assert (result["made"], result["of_picked_sentences"]) == (2, 1)
    assert result["no_conclusions"] == {"total": 1, "first": ["103"]}
    assert result["no_abstracts"] == {"total": 1, "first": ["104"]}


def test_inputs_of_documents_read_the_abstract_and_general_references_are_none(project: Project, lead: User) -> None:
    review = review_of(project, 1, studies=0)
    first, second, general = (Study.objects.create(project=project, pmid=p, abstract=f"Text {p}.") for p in "321")
    include(review, general, role=Role.GENERAL)
    include(review, second, first)
    documents_actions.make_documents(project=project, by=lead)
    texts = Input.objects.with_source_text().order_by("position").values_list("text", "source_text")
    assert list(texts) == [("", "Text 2."), ("", "Text 3.")]
    material = materials(project, Level.DOCUMENT, [review.unit_id])[review.unit_id]
    assert [text.text for text in material.source.inputs] == ["Text 2.", "Text 3."]
    assert sizes(Level.DOCUMENT, [review.unit_id]) == {review.unit_id: 14}


def test_updating_documents_follows_studies_and_keeps_corrected_texts(project: Project, lead: User) -> None:
    review = review_of(project, 1)
    documents_actions.make_documents(project=project, by=lead)
    again = documents_actions.make_documents(project=project, by=lead)
    assert (again["made"], again["brought_up_to_date"], again["taken_out"]) == (0, 0, 0)
    member = project.members.get(user=lead)
    supersede_target(target=Target.objects.get(), text="Nepralin may help.", reason="It hedges.", by=member)
    study_of(review, 1012)
    review.inclusions.filter(study__pmid="1010").delete()
    assert documents_actions.make_documents(project=project, by=lead)["brought_up_to_date"] == 1
    assert made(project) == {"101": ("Nepralin may help.", ["1011", "1012"])}
    include(review, Study.objects.get(pmid="1010"))
    documents_actions.make_documents(project=project, by=lead)
    assert made(project) == {"101": ("Nepralin may help.", ["1010", "1011", "1012"])}
    assert list(rules.violations()) == []


def test_documents_follow_their_review_and_imported_ones_stay(
    project: Project, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    review_of(project, 1)
    brought = review_of(project, 2)
    file = Import.objects.create(
        project=project, format="m3", level="1", size=1, report={}, created_by=lead, created_at=timezone.now()
    )
    unit = Unit.objects.create(project=project, type="target document", key=brought.pmid)
    Target.objects.create(
        project=project,
        review=brought,
        level=Level.DOCUMENT,
        key=brought.pmid,
        position=0,
        text="As it came.",
        unit=unit,
        imported=file,
    )
    documents_actions.make_documents(project=project, by=lead)
    assert list(made(project)) == ["102", "101"]
    with monkeypatch.context() as excluded:
        excluded.setattr("annotation.documents.queries.data_set_reviews", lambda project: Review.objects.none())
        assert documents_actions.make_documents(project=project, by=lead)["taken_out"] == 1
        assert made(project) == {"102": ("As it came.", [])}
        assert list(rules.violations()) == []
    assert documents_actions.make_documents(project=project, by=lead)["brought_up_to_date"] == 1
    assert list(made(project)) == ["102", "101"]


def test_creating_documents_is_a_workflow_step_until_done_once(project: Project, lead: User) -> None:
    step = Documents().step
    assert step(project) is None
    review = build_cluster(project).review
    assert step(project) is None
    Review.objects.filter(pk=review.pk).update(record=RecordStatus.READ)
    offered = step(project)
    assert offered
    assert offered.next
    assert (offered.of, offered.next.words) == ("of 1 review", "create the documents")
    # A review without an abstract has none; the page says so once.
    assert run_job(documents_actions.queue_documents(project=project, by=lead).pk)
    done = step(project)
    assert done
    assert (done.count, done.state, done.next) == (0, "to do", None)


def test_a_curator_creates_documents_and_reads_the_result_in_fixed_queries(
    project: Project, lead: User, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)
    assert client.post(ADDRESS).status_code == 422
    assert client_of(ann1).get(ADDRESS).status_code == 403
    review_of(project, 1)
    assert run_job(client.post(ADDRESS).json()["id"])
    with CaptureQueriesContext(connection) as few:
        said = client.get(ADDRESS).json()
    assert (said["reviews"], said["made"], said["last_result"]["made"], said["job"]) == (1, 1, 1, None)
    for number in range(2, 60):
        review_of(project, number)
    with CaptureQueriesContext(connection) as cost:
        documents_actions.make_documents(project=project, by=lead)
    assert len(made(project)) == 59
    # Two batches of reviews, and no query per review.
    assert len(cost) <= 60, len(cost)
    with CaptureQueriesContext(connection) as many:
        client.get(ADDRESS)
    assert len(few) == len(many)


def test_an_attempt_that_was_stopped_is_continued_after_its_last_batch(
    project: Project, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 7):
        review_of(project, number)
    review_of(project, 0, studies=0)
    monkeypatch.setattr(documents_queries, "BATCH", 2)
    seen, update = [], documents_actions._update_documents

    def counted(project: Project, batch: Any, *given: Any) -> None:
        seen.append([document.review.pmid for document in batch])
        if len(seen) == 3:
            raise OSError("lost")
        update(project, batch, *given)

    monkeypatch.setattr(documents_actions, "_update_documents", counted)
    job = documents_actions.queue_documents(project=project, by=lead)
    assert run_job(job.pk)
    Job.objects.filter(pk=job.pk).update(not_before=None)
    assert run_job(job.pk)
    assert seen == [["101", "102"], ["103", "104"], ["105", "106"], ["105", "106"], ["100"]]
    job.refresh_from_db()
    assert job.result
    assert (job.status, job.result["made"], len(made(project))) == ("done", 6, 6)
    assert job.result["no_abstracts"] == {"total": 1, "first": ["100"]}
