"""Blinding: nothing that a rater can request reveals which system wrote a text."""

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient
from rest_framework.views import APIView

from accounts.models import User
from audit.log import record
from evaluation.judging import versions
from evaluation.models import PageText, RatingDesign
from evaluation.unblinding.actions import unblind
from generation.models import ProjectEndpoint, Run
from projects.jobs import jobs
from projects.models import Member, Round
from projects.participation.actions import make_links
from projects.queue.actions import next_assignments
from projects.rounds.actions import add_person, close_round
from releases.storage.registry import folder_of
from tests.config.other_project import OtherProject, build_judge_run, make_other_project, released
from tests.config.routes import CASES, api_routes, client_of, no_ids
from tests.evaluation.rating_rounds import open_rating, rate_value, submit_value
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db
#: Unique names, and unique words in the texts of each system.
SYSTEMS = {"Zaqalder": "Quixotol lowered relapse a little.", "Zaqbirch": "There is zugzwangy sign of quixotol."}
TEXTS = [text.split()[n] for text, n in zip(SYSTEMS.values(), (0, 2), strict=True)]
SEED = 1_873_465_209
DECODING = "TextRank"
#: Words of a judge, its endpoint, run, job and log.
JUDGE = ["zaqjudge", "zaqmodel", "zaqhost", "zaqendpoint", "start judge", "run_judge", "judge run", "make_judge"]


@pytest.fixture(scope="module")
def made(shared_rows: None) -> OtherProject:
    """A second project with another rating round over two systems with unique names."""
    other = make_other_project()
    texts = dict(zip(SYSTEMS, SYSTEMS.values(), strict=True))
    runs = [
        build_run(
            build_version(other.project, name, by=other.owner, decoding={"sentences": 3, "method": DECODING}),
            {other.cluster.unit_id: text},
        )
        for name, text in texts.items()
    ]
    evaluator = User.objects.create_user(email="blind@example.org", name="Blind")
    Member.objects.create(project=other.project, user=evaluator, role="evaluator", pseudonym="B1")
    people = [other.project.members.get(user=evaluator), other.worker]
    rated = open_rating(other.project, people, runs, name="blind ratings", seed=SEED, allocation="pool", overlap=3)
    judge_it(rated, other.owner)
    return replace(other, rated=rated, run=runs[0])


def judge_it(rated: Round, by: User) -> None:
    """Start a judge on a round, with a failed job, log entries and an endpoint."""
    run = build_judge_run(rated, "Zaqjudge blind")
    job = jobs.enqueue(project=rated.project, kind="run_judge", params={"judgerun": run.pk}, by=by)
    failed = {"status": "failed", "error": "zaqhost.example is away", "finished_at": timezone.now()}
    type(job).objects.filter(pk=job.pk).update(**failed)
    type(run).objects.filter(pk=run.pk).update(job=job)
    local = versions.request_judge(project=rated.project, name="Zaqjudge here", model="zaqmodel", by=by)
    type(job).objects.filter(pk=local.pk).update(**failed)
    record(actor=by, verb="start judge", obj=run, project_id=rated.project_id, after={"host": run.host})
    record(actor=by, verb="make judge", obj=run.judge, project_id=rated.project_id, after={"name": run.judge.name})
    endpoint = ProjectEndpoint.objects.create(project=rated.project, name="zaqendpoint", url="https://zaqhost.example")
    record(actor=by, verb="add endpoint", obj=endpoint, project_id=rated.project_id, after={"name": endpoint.name})


@pytest.fixture
def other(made: OtherProject, db: None) -> OtherProject:
    return copy.deepcopy(made)


def runs_of(other: OtherProject) -> list[Run]:
    return list(Run.objects.filter(compared_systems__design__round=other.rated).order_by("pk"))


def secrets(other: OtherProject) -> list[str]:
    """Return strings that reveal the systems, how they wrote, or how texts are ordered."""
    hashes = [run.version.hash for run in runs_of(other)]
    secret = RatingDesign.objects.get(round=other.rated).secret
    return [*SYSTEMS, *hashes, *(hash[:12] for hash in hashes), DECODING, str(SEED), secret]


def addresses(other: OtherProject) -> Iterator[str]:
    """Return every readable address, also for the rating round, all units and all jobs."""
    units = list(other.rated.assignments.values_list("unit", flat=True).distinct())
    for route in api_routes():
        if "get" not in route.methods or route.pattern == "schema/":
            continue
        ids: dict[str, Any] = {"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other)
        yield route.address(ids)
        if "round_id" in ids:
            yield route.address(ids | {"round_id": other.rated.pk})
        if "unit_id" in ids:
            yield from (route.address(ids | {"round_id": other.rated.pk, "unit_id": unit}) for unit in units)
        if "run_id" in ids:
            yield from (route.address(ids | {"run_id": run.pk}) for run in runs_of(other))
    slug = other.project.slug
    yield from (f"/api/v1/jobs/{pk}/" for pk in other.project.jobs.values_list("pk", flat=True))
    for kind, pk in [("round", other.rated.pk), *(("run", run.pk) for run in runs_of(other))]:
        yield f"/api/v1/projects/{slug}/audit/?object_type={kind}&object_id={pk}"
    for object_type in ("judge", "judgerun", "projectendpoint"):
        yield f"/api/v1/projects/{slug}/audit/?object_type={object_type}"
    for word in (*SYSTEMS, *TEXTS):
        yield f"/api/v1/projects/{slug}/clusters/?search={word}"
    yield f"/api/v1/projects/{slug}/inbox/?round={other.rated.pk}"


def whole(reply: Any) -> str:
    """Return headers and body of a reply."""
    body = b"".join(reply.streaming_content) if reply.streaming else reply.content
    if body[:2] == b"PK":
        with ZipFile(BytesIO(body)) as archive:
            body = b"\n".join(name.encode() + archive.read(name) for name in archive.namelist())
    return f"{dict(reply.headers)}\n{body.decode(errors='replace')}".lower()


def told(client: Client, other: OtherProject) -> dict[str, str]:
    """Return all that a person can read, by address."""
    return {address: whole(client.get(address)) for address in addresses(other)}


def found(replies: dict[str, str], words: list[str]) -> dict[str, list[str]]:
    """Return which of the words occur, by address."""
    there = {address: [word.lower() for word in words if word.lower() in text] for address, text in replies.items()}
    return {address: words for address, words in there.items() if words}


def beside_its_round(replies: dict[str, str]) -> set[str]:
    """Return addresses outside of rounds whose replies contain words of a text."""
    return {a for a in found(replies, TEXTS) if "/rounds/" not in a and "search=" not in a}


def rate_one(user: User, round: Round) -> None:
    from projects.queue import queries as queue_queries

    slot = next_assignments(user=user, round=round)[0]
    submit_value(user, slot, rate_value(queue_queries.cards(round, [slot])[0]))


def rater(other: OtherProject, role: str) -> tuple[Member, Client]:
    member = other.project.members.get(user__email="blind@example.org")
    Member.objects.filter(pk=member.pk).update(role=role)
    member.refresh_from_db()
    return member, client_of(member.user)


@pytest.mark.parametrize(
    ("role", "closed"),
    [
        ("evaluator", False),
        ("volunteer", True),
        *(
            pytest.param(role, closed, marks=pytest.mark.long)
            for role, closed in [("evaluator", True), ("annotator", False), ("annotator", True), ("volunteer", False)]
        ),
    ],
)
def test_no_address_shows_a_rater_anything_about_systems(other: OtherProject, role: str, closed: bool) -> None:
    member, client = rater(other, role)
    rate_one(member.user, other.rated)
    if closed:
        close_round(round=other.rated, by=other.owner)
        other.rated.refresh_from_db()
    assert found(told(client, other), [*secrets(other), *JUDGE]) == {}


def _said_together(replies: dict[str, str], other: OtherProject) -> dict[str, list[str]]:
    """Return replies that contain a text (its code or words) together with a system, version or seed."""
    codes = list(PageText.objects.filter(page__source__design__round=other.rated).values_list("code", flat=True))
    texts, names = found(replies, [*codes, *TEXTS]), found(replies, secrets(other))
    asked = {address for address in texts if "search=" not in address}
    return {address: texts[address] + names[address] for address in sorted(asked & set(names))}


@pytest.mark.parametrize(
    ("role", "closed"),
    [
        ("lead", False),
        *(
            pytest.param(role, closed, marks=pytest.mark.long)
            for role, closed in [("curator", True), ("curator", False), ("lead", True)]
        ),
    ],
)
def test_raters_who_see_systems_never_see_a_text_with_its_system(other: OtherProject, role: str, closed: bool) -> None:
    """A person who knows the systems is shown neither their texts nor the systems of codes."""
    member, client = rater(other, role)
    rate_one(member.user, other.rated)
    if closed:
        close_round(round=other.rated, by=other.owner)
        other.rated.refresh_from_db()
    replies = told(client, other)
    assert _said_together(replies, other) == {}
    assert beside_its_round(replies) == set(), "texts are told by the pages of their round alone"
    unknown = [str(SEED), RatingDesign.objects.get(round=other.rated).secret]
    if not closed:
        unknown += JUDGE
    assert found(replies, unknown) == {}, "from these the order of the texts can be worked out"


def test_a_planted_leak_is_found(other: OtherProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a body, and in a header."""
    from evaluation.kinds.rate.kind import RateKind

    member, client = rater(other, "evaluator")
    whole, replied = RateKind.card, APIView.finalize_response
    in_body, in_header = runs_of(other)[0].version.hash, list(SYSTEMS)[1].lower()

    def with_header(*given: Any, **named: Any) -> Any:
        reply = replied(*given, **named)
        reply["X-Served-By"] = in_header
        return reply

    monkeypatch.setattr(RateKind, "card", lambda self, *given: whole(self, *given) | {"comment": f"by {in_body}"})
    monkeypatch.setattr(APIView, "finalize_response", with_header)
    leaks = found(told(client, other), secrets(other))
    assert {in_body, in_header} <= set(leaks[f"/api/v1/rounds/{other.rated.pk}/next/"])
    assert in_header in leaks["/api/v1/my-work/"]
    assert in_body not in leaks["/api/v1/my-work/"]
    assert member.role == "evaluator"


def test_a_lead_who_does_not_rate_sees_the_judges(other: OtherProject) -> None:
    """Otherwise the tests above would pass without any judge."""
    replies = told(client_of(other.owner), other)
    seen = {word for words in found(replies, JUDGE).values() for word in words}
    assert seen == set(JUDGE)


def test_results_are_shown_to_all_readers_after_unblinding(other: OtherProject) -> None:
    member, client = rater(other, "lead")
    close_round(round=other.rated, by=other.owner)
    unblind(design=RatingDesign.objects.get(round=other.rated), by=other.owner)
    assert any(str(run.pk) for run in runs_of(other))
    assert beside_its_round(told(client, other)), "the outputs can be read again"
    assert member.role == "lead"


def came_by_link(other: OtherProject) -> tuple[APIClient, list[str]]:
    """A volunteer who joined by link, with all replies up to the first answer."""
    token = make_links(round=other.rated, by=other.owner, labels=["Volunteer 2"])[0][1]
    client = APIClient()
    replies: list[Any] = [client.post("/api/v1/take/look/", {"token": token}, format="json")]
    given = {"token": token, "digest": replies[0].json()["digest"]}
    replies.append(client.post("/api/v1/take/accept/", given, format="json"))
    replies.append(client.get(f"/api/v1/rounds/{other.rated.pk}/next/"))
    card = replies[-1].json()["fetched"][0]
    body = {
        "assignment": card["assignment"],
        "revision": 0,
        "kind": "rate",
        "outcome": "answered",
        "shown": 1,
        "have": [],
        "value": rate_value(card),
    }
    replies.append(client.put("/api/v1/answers/3c0de2a0-0000-4000-8000-000000000002/", body, format="json"))
    assert [reply.status_code for reply in replies] == [200, 200, 200, 201]
    return client, [whole(reply) for reply in replies]


def released_now(other: OtherProject) -> OtherProject:
    """The project with a release that is frozen while its round is open or blind."""
    return replace(other, release=released(other.project, f"9.0.{other.project.releases.count()}", other.owner))


def files_of(client: Client, other: OtherProject) -> str:
    """Return all files of a release, and its archive, by address."""
    there = sorted(path for path in folder_of(other.release).rglob("*") if path.is_file())
    names = [path.relative_to(folder_of(other.release)).as_posix() for path in there]
    base = f"/api/v1/releases/{other.release.pk}"
    asked = [f"{base}/archive/", *(f"{base}/files/{name}" for name in names)]
    return "\n".join(name + whole(client.get(name)) for name in asked)


@pytest.mark.long
def test_a_volunteer_of_a_link_and_releases_made_meanwhile_tell_nothing(
    other: OtherProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = released_now(other)
    volunteer, replies = came_by_link(other)
    words = [word.lower() for word in secrets(other)]
    assert [word for word in words for reply in replies if word in reply] == []
    assert found(told(volunteer, other), secrets(other)) == {}
    codes = list(PageText.objects.filter(page__source__design__round=other.rated).values_list("code", flat=True))
    _, lead = rater(other, "lead")
    clues = [*words, *codes, *(word.lower() for word in TEXTS)]
    assert [clue for clue in clues if clue in files_of(lead, other)] == []
    # A release with a leak in two of its files is detected.
    for name in ("formats.rounds", "sources.blinding"):
        monkeypatch.setattr(f"releases.{name}.kept_blind", lambda project: [])
    leaking = files_of(lead, released_now(other))
    assert {clue for clue in clues if clue in leaking} >= {str(SEED), *codes}


def test_the_reply_to_an_answer_reveals_nothing_either(other: OtherProject) -> None:
    from projects.queue import queries as queue_queries

    member, _ = rater(other, "evaluator")
    slot = next_assignments(user=member.user, round=other.rated)[0]
    body = {
        "assignment": slot.pk,
        "revision": 0,
        "kind": "rate",
        "outcome": "answered",
        "shown": 1,
        "have": [],
        "value": rate_value(queue_queries.cards(other.rated, [slot])[0]),
    }
    api = APIClient()
    api.force_login(member.user)
    reply: Any = api.put("/api/v1/answers/3c0de2a0-0000-4000-8000-000000000001/", body, format="json")
    assert reply.status_code < 300, reply.content
    whole = f"{dict(reply.headers)}{json.dumps(reply.json())}".lower()
    assert [word for word in secrets(other) if word.lower() in whole] == []


def test_nobody_looks_at_the_agreement_of_a_blind_round_that_is_open(other: OtherProject) -> None:
    address = f"/api/v1/rounds/{other.rated.pk}/agreement/"
    _, client = rater(other, "lead")
    for one in (client, client_of(other.owner)):
        assert one.get(address).status_code == 409
    close_round(round=other.rated, by=other.owner)
    assert client_of(other.owner).get(address).status_code in (200, 202)


@pytest.mark.long
def test_participants_who_join_later_are_blind_too(other: OtherProject) -> None:
    later = User.objects.create_user(email="later@example.org", name="Later")
    member = Member.objects.create(project=other.project, user=later, role="curator", pseudonym="L1")
    assert {a for a in beside_its_round(told(client_of(later), other)) if "/outputs/" in a}, (
        "else there is nothing to hide"
    )
    add_person(round=other.rated, member=member, by=other.owner)
    assert beside_its_round(told(client_of(later), other)) == set()
