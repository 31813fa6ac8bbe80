"""Limits per person and project: refused with the time to wait where waiting helps."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from api import limits
from api.problems import Conflict, TooMuch
from projects.jobs import jobs
from projects.models import Answer, Job, JobStatus, Project
from projects.queue import actions as queue_actions
from projects.uploads import files as uploads
from tests.builders import answer, build_cluster, build_round, submission
from tests.conftest import person

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]


@pytest.fixture
def limit(settings: Any) -> Callable[..., None]:
    """``limit(LIMIT_PROJECTS_PER_DAY=3)`` changes limits for a test."""

    def change(**limits: int) -> None:
        settings.LIMITS = {**settings.LIMITS, **limits}

    return change


def test_every_limit_is_documented_with_its_default() -> None:
    guide, sample = ((ROOT / name).read_text() for name in ("docs/limits.md", ".env.example"))
    for name, row in limits.LIMITS.items():
        assert re.search(rf"^\| `{name}` \|.*\| {row.most} \|$", guide, re.MULTILINE), name
        assert f"# {name}={row.most}\n" in sample, name


@pytest.mark.row(60)
def test_queued_jobs_of_a_project_are_limited_except_closing_a_round(
    project: Project, lead: User, client_of: Callable[[User], APIClient], limit: Callable[..., None]
) -> None:
    limit(LIMIT_JOBS_OF_A_PROJECT=3)
    client = client_of(lead)

    def ask(n: int) -> Any:
        return client.post("/api/v1/projects/eye/releases/", {"version": f"1.0.{n}", "reason": "Empty."}, format="json")

    assert [ask(n).status_code for n in range(3)] == [202] * 3
    refused = ask(4)
    assert (refused.status_code, refused["Retry-After"], refused.json()["type"]) == (429, "30", "/problems/too-much")
    assert "3 queued jobs per project" in refused.json()["detail"]
    assert ask(2).status_code == 202, "the same one, waiting already"
    assert Job.objects.count() == 3
    build_cluster(project)
    round = build_round(project, [project.members.get(user=lead)])
    assert client.post(f"/api/v1/rounds/{round.pk}/close/").status_code == 202
    limit(LIMIT_JOBS_OF_A_PROJECT=0)
    assert ask(5).status_code == 202


def test_finished_jobs_make_room_and_limits_are_per_project(
    project: Project, lead: User, limit: Callable[..., None]
) -> None:
    limit(LIMIT_JOBS_OF_A_PROJECT=1)
    first, _ = jobs.request_job(project=project, kind="release", params={"version": "1"}, by=lead)
    with pytest.raises(TooMuch):
        jobs.request_job(project=project, kind="release", params={"version": "2"}, by=lead)
    elsewhere = Project.objects.create(slug="ear", name="Ear")
    jobs.request_job(project=elsewhere, kind="release", params={"version": "2"}, by=lead)
    Job.objects.filter(pk=first.pk).update(status=JobStatus.DONE)
    jobs.request_job(project=project, kind="release", params={"version": "2"}, by=lead)


MAKERS: dict[str, tuple[str, Callable[[int], dict[str, Any]], int]] = {
    "LIMIT_PROJECTS_PER_DAY": ("projects/", lambda n: {"name": f"P{n}", "slug": f"p{n}"}, 429),
    "LIMIT_INVITATIONS_PER_DAY": (
        "projects/eye/invitations/",
        lambda n: {"email": f"p{n}@example.net", "role": "viewer"},
        429,
    ),
    "LIMIT_GUIDELINES_PER_DAY": ("projects/eye/guidelines/", lambda n: {"kind": "label", "text": f"v{n}"}, 429),
    "LIMIT_PROTOCOLS_PER_DAY": (
        "projects/eye/protocols/",
        lambda n: {"name": f"p{n}", "content": {"schema": 1, "kind": "rate"}},
        429,
    ),
    "LIMIT_RELEASES_PER_DAY": ("projects/eye/releases/", lambda n: {"version": f"1.0.{n}", "reason": "Empty."}, 429),
    "LIMIT_API_TOKENS": ("me/tokens/", lambda n: {"name": f"t{n}"}, 409),
}


@pytest.mark.row(60)
@pytest.mark.parametrize("name", MAKERS)
def test_limits_per_person_have_a_message(
    name: str, project: Project, lead: User, client_of: Callable[[User], APIClient], limit: Callable[..., None]
) -> None:
    limit(**{name: 3})
    address, body, status = MAKERS[name]
    client = client_of(lead)

    def ask(n: int) -> Any:
        return client.post(f"/api/v1/{address}", body(n), format="json")

    assert [ask(n).status_code for n in range(3)] in ([201] * 3, [202] * 3)
    refused = ask(4)
    assert refused.status_code == status
    assert " 3 " in f" {refused.json()['detail']} "
    assert ("Retry-After" in refused) == (status == 429)
    if status == 429:
        assert 80_000 < int(refused["Retry-After"]) <= 86_400
    limit(**{name: 0})
    assert ask(5).status_code in (201, 202)


@pytest.fixture
def paced(monkeypatch: pytest.MonkeyPatch) -> limits.Pace:
    fresh = limits.Pace()
    monkeypatch.setattr(queue_actions, "_PACE", fresh)
    return fresh


@pytest.mark.row(60)
def test_answers_above_the_rate_limit_are_accepted_after_waiting(
    project: Project, ann1: User, client_of: Callable[[User], APIClient], limit: Callable[..., None], paced: limits.Pace
) -> None:
    for number in range(4):
        build_cluster(project, number, inputs=1)
    round = build_round(project, [project.members.get(user=ann1)])
    client = client_of(ann1)
    limit(LIMIT_ANSWERS_PER_MINUTE=4)
    replies = []
    for _ in range(5):
        slot = queue_actions.next_assignments(user=ann1, round=round)[0]
        given = submission(
            slot, {"polarity": "no effect", "modality": "moderate", "polarity_cue": [], "modality_cue": []}
        )
        body = {k: v for k, v in vars(given).items() if k not in ("uuid", "digest")} | {"have": []}
        replies.append(client.put(f"/api/v1/answers/{given.uuid}/", body, format="json"))
    assert [reply.status_code for reply in replies] == [201, 201, 201, 201, 429]
    assert 50 <= int(replies[-1]["Retry-After"]) <= 60
    assert "4 answers per minute" in replies[-1].json()["detail"]
    limit(LIMIT_ANSWERS_PER_MINUTE=6)
    assert client.put(f"/api/v1/answers/{given.uuid}/", body, format="json").status_code == 201


def test_limits_of_interactive_requests_rarely_query_the_database(
    limit: Callable[..., None], ann1: User, paced: limits.Pace, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        for _ in range(150):
            queue_actions.check_answer_rate(ann1)
    with django_assert_num_queries(1):
        queue_actions.check_answer_rate(ann1)
    limit(LIMIT_ANSWERS_PER_MINUTE=0)
    with django_assert_num_queries(0):
        queue_actions.check_answer_rate(ann1)


def test_limits_count_other_processes_for_a_minute(
    project: Project, ann1: User, limit: Callable[..., None], paced: limits.Pace
) -> None:
    """A process that has seen two of a person's eight answers."""
    for number in range(8):
        build_cluster(project, number, inputs=1)
    round = build_round(project, [project.members.get(user=ann1)])
    for _ in range(8):
        answer(ann1, queue_actions.next_assignments(user=ann1, round=round)[0])
    limit(LIMIT_ANSWERS_PER_MINUTE=8)
    queue_actions.check_answer_rate(ann1)
    queue_actions.check_answer_rate(ann1)
    with pytest.raises(TooMuch):
        queue_actions.check_answer_rate(ann1)
    queue_actions.check_answer_rate(person("somebody"))
    found = Answer.objects.filter(author__user=ann1)
    minute_ago = timezone.now() - timedelta(seconds=61)
    limits.check("LIMIT_ANSWERS_PER_MINUTE", found.filter(received_at__lt=minute_ago), at="received_at")


def upload(project: Project, by: User, size: int) -> Job:
    token = uploads.store(ContentFile(b"x" * size, name="f"), by)
    return jobs.request_job(project=project, kind="check_import", params={"upload": token}, by=by)[0]


@pytest.mark.row(60)
def test_the_uploads_of_a_person_are_limited_without_deleting_files_in_use(
    project: Project, lead: User, ann1: User, limit: Callable[..., None], settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    limit(LIMIT_UPLOADS_MB=1)
    third = 400 * 1024
    first, second = upload(project, lead, third), upload(project, lead, third)
    with pytest.raises(TooMuch, match="1 MiB") as refused:
        upload(project, lead, third)
    assert refused.value.headers == {"Retry-After": "30"}
    assert len(list(uploads.folder().iterdir())) == 2
    upload(project, ann1, third)
    Job.objects.filter(pk=second.pk).update(status=JobStatus.DONE)
    upload(project, lead, third)
    there = {job.pk: uploads.path_of(job.params["upload"]).exists() for job in (first, second)}
    assert there == {first.pk: True, second.pk: False}, "what was checked and not confirmed makes room"
    limit(LIMIT_UPLOADS_MB=0)
    upload(project, lead, 3 * third)


def test_a_limit_on_existing_objects_is_a_conflict_and_no_429(lead: User, limit: Callable[..., None]) -> None:
    limit(LIMIT_API_TOKENS=1)
    with pytest.raises(Conflict, match="Revoke the ones"):
        limits.check("LIMIT_API_TOKENS", User.objects.all(), adding=2)
