"""PubMed searches: rate limit, permissions, resuming, no duplicates."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.flow.queries import stages
from annotation.models import Hit, PubMedAccess, PubMedRateLimit, Review, Search, Study
from annotation.pubmed import actions as pubmed_actions
from annotation.pubmed import client as pubmed_client
from annotation.pubmed.client import Access, Client, PubMedUnavailable
from api.problems import Refused
from audit.actions import create_checkpoints
from audit.models import Entry
from audit.verify import findings
from projects.jobs import batches
from projects.jobs.running import run_job
from projects.models import Job, JobStatus, Member, Project
from projects.stored_figures.actions import compute_and_store
from tests.annotation.pubmed_files import article, as_xml
from tests.annotation.pubmed_stub import Stub, serving
from tests.annotation.test_pubmed_files import BOMB
from tests.builders import include

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setattr(pubmed_client, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(pubmed_client, "WITHOUT_KEY", timedelta(0))
    with serving() as found:
        yield found


@pytest.fixture
def leader(project: Project, lead: User) -> Member:
    return project.members.get(user=lead)


def quick(seconds: float) -> None:
    assert seconds < 30


def asked(project: Project, leader: Member, **about: Any) -> Search:
    return pubmed_actions.start_search(project=project, by=leader, **{"query": "relapse", "topic": "relapse"} | about)


def done(search: Search) -> Search:
    """Run the job of the search and reload it."""
    assert search.job
    run_job(search.job.pk)
    return Search.objects.get(pk=search.pk)


def jobs_of(search: Search) -> QuerySet[Job]:
    return Job.objects.filter(kind=pubmed_actions.KIND, params={"search": search.pk})


def outcomes(search: Search) -> dict[str, int]:
    return {name: count for name, count in pubmed_actions.counts_of(search).items() if count}


def test_a_query_becomes_reviews_by_batches_and_what_is_known_is_counted_once(
    project: Project, leader: Member, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pubmed_actions, "BATCH", 2)
    monkeypatch.setattr(pubmed_client, "PAGE", 3)
    pmids = stub.fill(5)
    found = done(asked(project, leader, date_from=timezone.now().date()))
    assert (found.state, found.found, found.translation) == ("done", 5, '"relapse"[All Fields]')
    assert outcomes(found) == {"new": 5}
    assert list(Review.objects.order_by("pk").values_list("pmid", flat=True)) == pmids
    assert set(Review.objects.values_list("topic", "record")) == {("relapse", "read"), ("relapse", "no abstract")}
    assert stub.programs() == ["esearch.fcgi"] * 3 + ["efetch.fcgi"] * 3
    first = stub.asked[0][1]
    assert (first["tool"], first["email"], first["usehistory"], first["datetype"]) == (
        "concord",
        leader.user.email,
        "y",
        "pdat",
    )
    assert "api_key" not in first
    again = done(asked(project, leader, topic="another"))
    assert (outcomes(again), Review.objects.count()) == ({"known": 5}, 5)
    assert Entry.objects.filter(verb="end search").count() == 2


def truncated() -> bytes:
    return as_xml([article()])[:-300]


WRONG = {
    "500": (500, {}, b"oops"),
    "429": (429, {}, b"API rate limit exceeded"),
    "cut off": (200, {}, truncated()),
    "nothing": (200, {}, b""),
    "shorter than said": (200, {"Content-Length": "99999"}, b"<PubmedArticleSet>"),
    "a page": (200, {}, b"<html>maintenance</html>"),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_an_invalid_reply_is_requested_again(project: Project, leader: Member, stub: Stub, wrong: Any) -> None:
    stub.fill(2)
    stub.wrong = [wrong, None, wrong, wrong, None]
    found = done(asked(project, leader))
    assert (found.state, outcomes(found)) == ("done", {"new": 2})


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_pubmed_that_stays_away_leaves_what_was_read_and_a_way_on(
    project: Project, leader: Member, stub: Stub, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    monkeypatch.setattr(pubmed_actions, "BATCH", 2)
    monkeypatch.setattr(pubmed_client, "TRIES", 2)
    stub.fill(4)
    stub.wrong = [None, None, None, wrong, wrong]
    found = done(asked(project, leader))
    assert (found.state, outcomes(found)) == ("failed", {"new": 2, "waiting": 2})
    assert "PubMed did not answer 2 requests" in found.error
    assert Review.objects.count() == 2
    on = done(pubmed_actions.resume(search=found, by=leader))
    assert (on.state, on.error, outcomes(on), Review.objects.count()) == ("done", "", {"new": 4}, 4)
    assert stub.programs().count("esearch.fcgi") == 2


@pytest.mark.row(29)
def test_an_entity_bomb_in_a_reply_of_pubmed_is_refused_and_not_stored(
    project: Project, leader: Member, stub: Stub
) -> None:
    stub.fill(2)
    stub.wrong = [None, None, (200, {}, as_xml([article("30000000", title="&a29;")], BOMB))]
    found = done(asked(project, leader))
    assert (found.state, outcomes(found)) == ("failed", {"waiting": 2})
    assert "the file declares an entity" in found.error
    assert done(pubmed_actions.resume(search=found, by=leader)).state == "done"


def test_an_unusable_record_is_noted_and_does_not_block_others(
    project: Project,
    leader: Member,
    stub: Stub,
    monkeypatch: pytest.MonkeyPatch,
    client_of: Callable[[User], APIClient],
) -> None:
    [_, _, _, long, endless, *_] = stub.fill(6)
    stub.records[long] = article(long, title="Nepralin " * 20_000)
    stub.records[endless] = article(endless, types=["Review" * 50_000] * 4)
    monkeypatch.setattr(pubmed_client, "LIMITS", replace(pubmed_client.LIMITS, size=2**20))
    found = done(asked(project, leader))
    assert (found.state, found.error, outcomes(found)) == ("done", "", {"new": 4, "unfit": 2})
    [row] = client_of(leader.user).get(f"/api/v1/projects/{project.slug}/searches/").json()["results"]
    assert [one["pmid"] for one in row["unfit"]] == [long, endless]
    assert row["unfit"][0]["why"] == "title: 180,000 characters; expected at most 100,000"
    assert row["unfit"][1]["why"] == "a response of more than 1 MiB"
    left_out = stages(project)[0]
    assert ("could not be imported", 2) in left_out.aside
    stub.records[long] = article(long)
    on = done(pubmed_actions.resume(search=found, by=leader))
    assert (on.state, outcomes(on)) == ("done", {"new": 5, "unfit": 1})
    assert not Hit.objects.exclude(outcome="unfit").exclude(why="").exists()


def test_a_study_with_an_unusable_record_is_not_requested_again(project: Project, leader: Member, stub: Stub) -> None:
    [pmid] = stub.fill(1)
    Study.objects.create(project=project, pmid=pmid)
    stub.records[pmid] = article(pmid, title="x" * 100_001)
    found = done(pubmed_actions.start_reading_studies(project=project, by=leader))
    assert outcomes(found) == {"unfit": 1}
    assert not pubmed_actions.unread_studies(project).exists()
    stub.fill(1)
    assert outcomes(done(pubmed_actions.resume(search=found, by=leader))) == {"known": 1}
    assert Study.objects.get().record == "read"


def test_an_entity_bomb_in_a_search_reply_is_refused(stub: Stub, db: None) -> None:
    stub.wrong = [(200, {}, b'<!DOCTYPE a [<!ENTITY b "c">]><eSearchResult><Count>&b;</Count></eSearchResult>')] * 5
    with pytest.raises(PubMedUnavailable, match="no XML from PubMed"):
        Client(Access("a@example.org"), quick).find("x")


def test_a_record_that_pubmed_does_not_have_is_missing_and_can_be_asked_for_again(
    project: Project, leader: Member, stub: Stub
) -> None:
    pmids = stub.fill(3)
    later = stub.records.pop(pmids[2])
    done(asked(project, leader))
    review = Review.objects.order_by("pk")[0]
    Study.objects.create(project=project, pmid="99")
    found = pubmed_actions.start_study_search(
        review=review, text=f"PMID: {pmids[2]}, 99\nhttps://pubmed.example/{pmids[0]}/ ", references=False, by=leader
    )
    found = done(found)
    assert (found.state, outcomes(found)) == ("done", {"new": 1, "missing": 2})
    assert [(s.pmid, s.record) for s in Study.objects.order_by("pmid")] == [(pmids[0], "read"), ("99", "not found")]
    stub.records[pmids[2]] = later
    on = done(pubmed_actions.resume(search=found, by=leader))
    assert outcomes(on) == {"new": 2, "missing": 1}
    assert sorted(review.studies().values_list("pmid", flat=True)) == [pmids[0], pmids[2]]


def test_studies_come_from_what_the_review_cites_and_unread_ones_are_read(
    project: Project, leader: Member, stub: Stub
) -> None:
    stub.fill(1)
    done(asked(project, leader))
    review = Review.objects.get()
    assert review.references == ["40000000"]
    stub.records = {pmid: article(pmid) for pmid in ("40000000", "40000001")}
    done(pubmed_actions.start_study_search(review=review, text="", references=True, by=leader))
    unread = Study.objects.create(project=project, pmid="40000001")
    include(review, unread)
    done(pubmed_actions.start_study_search(review=review, text="", references=False, by=leader))
    assert set(Study.objects.values_list("pmid", "record")) == {("40000000", "read"), ("40000001", "read")}
    for about, said in (({"text": "12 abc"}, "found 'abc'"), ({"text": ""}, "at least one PMID")):
        with pytest.raises(Refused, match=said):
            pubmed_actions.start_study_search(review=review, references=False, by=leader, **about)


def test_too_many_are_refused_with_the_way_to_fewer(
    project: Project, leader: Member, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pubmed_actions, "MOST_FOUND", 1)
    stub.fill(2)
    found = done(asked(project, leader))
    assert (found.state, found.found) == ("failed", None)
    assert "Narrow the query or the dates" in found.error


def test_a_query_that_finds_nothing_ends_with_zero(project: Project, leader: Member, stub: Stub) -> None:
    found = done(asked(project, leader))
    assert (found.state, found.found, outcomes(found)) == ("done", 0, {})


def test_a_search_can_be_stopped_between_batches_and_resumed(
    project: Project, leader: Member, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pubmed_actions, "BATCH", 1)
    stub.fill(3)
    search = asked(project, leader)
    real = pubmed_actions._store

    def stopped(*given: Any) -> None:
        real(*given)
        with batches.idempotent():  # another person's act, not the job's
            pubmed_actions.stop(search=search, by=leader)

    monkeypatch.setattr(pubmed_actions, "_store", stopped)
    found = done(search)
    assert (found.state, outcomes(found)) == ("stopped", {"new": 1, "waiting": 2})
    monkeypatch.setattr(pubmed_actions, "_store", real)
    assert outcomes(done(pubmed_actions.resume(search=found, by=leader))) == {"new": 3}


def test_a_worker_that_dies_leaves_whole_batches_and_another_reads_the_rest(
    project: Project, leader: Member, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pubmed_actions, "BATCH", 2)
    stub.fill(5)
    search = asked(project, leader)
    real, fetched = Client.fetch, iter(range(9))

    def taken_over(self: Client, pmids: Any) -> bytes:
        if next(fetched) == 1:
            with batches.idempotent():
                jobs_of(search).update(fence=99)
        return real(self, pmids)

    monkeypatch.setattr(Client, "fetch", taken_over)
    assert outcomes(done(search)) == {"new": 2, "waiting": 3}
    jobs_of(search).update(leased_until=timezone.now() - timedelta(hours=1))
    assert outcomes(done(search)) == {"new": 5}
    assert Review.objects.count() == 5


def test_retry_after_holds_back_everybody_who_asks(stub: Stub, db: None) -> None:
    stub.wrong = [(429, {"Retry-After": "7"}, b"")]
    waits: list[float] = []
    found = Client(Access("a@example.org"), waits.append).find("x")
    assert found.count == 0
    assert 7.0 in waits
    assert PubMedRateLimit.objects.get().next_at > timezone.now() + timedelta(seconds=5)


def test_pubmed_requests_are_spaced_by_rate_limits_with_and_without_a_key(db: None) -> None:
    for key, between in (("", pubmed_client.WITHOUT_KEY), (KEY, pubmed_client.WITH_KEY)):
        lane = pubmed_client.rate_limit_key(key)
        turns = [pubmed_client.reserve_time(lane, between) for _ in range(5)]
        assert [later - earlier for earlier, later in pairwise(turns)] == [between] * 4
    assert KEY not in str(list(PubMedRateLimit.objects.values()))
    PubMedRateLimit.objects.update(next_at=timezone.now() + timedelta(days=1))  # a clock was wrong
    assert pubmed_client.reserve_time(
        pubmed_client.rate_limit_key(KEY), pubmed_client.WITH_KEY
    ) < timezone.now() + timedelta(seconds=1)


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_never_get_the_same_turn() -> None:
    turns: list[Any] = []

    def take() -> None:
        try:
            turns.extend(pubmed_client.reserve_time("a", timedelta(seconds=1)) for _ in range(5))
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    turns.sort()
    assert len(turns) == 20
    assert min(later - earlier for earlier, later in pairwise(turns)) >= timedelta(seconds=1)


def test_a_pubmed_key_is_sent_to_pubmed_and_shown_nowhere(
    project: Project, leader: Member, stub: Stub, client_of: Callable[[User], APIClient], caplog: Any
) -> None:
    api = client_of(leader.user)
    reply = api.put("/api/v1/me/pubmed/", {"email": "lab@example.org", "key": KEY}, format="json")
    assert reply.json() == {"email": "lab@example.org", "has_key": True}
    stub.fill(1)
    stub.wrong = [(400, {}, f'{{"error":"API key invalid: {KEY}"}}'.encode())]
    found = done(asked(project, leader))
    assert (stub.asked[0][1]["api_key"], stub.asked[0][1]["email"]) == (KEY, "lab@example.org")
    assert "API key invalid: [key]" in found.error
    told = [
        found.error,
        caplog.text,
        api.get("/api/v1/me/pubmed/").content.decode(),
        repr(pubmed_client.access_of(leader.user)),
    ]
    told += [str(list(model.objects.values())) for model in (PubMedAccess, Entry, Job, Search)]
    assert not any(KEY in text for text in told)
    api.put("/api/v1/me/pubmed/", {"email": "lab@example.org"}, format="json")
    assert pubmed_client.access_of(leader.user).key == KEY
    with override_settings(SECRET_KEY="another-secret-key-of-the-installation"):
        assert pubmed_client.access_of(leader.user).key == ""
    api.put("/api/v1/me/pubmed/", {"email": "lab@example.org", "key": ""}, format="json")
    assert api.get("/api/v1/me/pubmed/").json()["has_key"] is False


def test_leads_search_through_the_api(
    project: Project, leader: Member, ann1: User, stub: Stub, client_of: Callable[[User], APIClient]
) -> None:
    stub.fill(3)
    api = client_of(leader.user)
    url = f"/api/v1/projects/{project.slug}/searches/"
    assert client_of(ann1).get(url).status_code == client_of(ann1).post(url, {}, format="json").status_code == 403
    assert api.post(url, {"query": " "}, format="json").status_code in (400, 422)
    body = {"query": "relapse", "topic": "relapse", "date_from": "2020-01-01", "date_to": "2010-01-01"}
    assert "before the start date" in api.post(url, body, format="json").json()["detail"]
    made = api.post(url, body | {"date_to": None}, format="json")
    assert (made.status_code, made.json()["state"]) == (201, "waiting")
    one = f"/api/v1/searches/{made.json()['id']}/"
    assert api.post(one, {"do": "go on"}, format="json").status_code == 409
    run_job(made.json()["job"]["id"])
    assert api.post(one, {"do": "stop"}, format="json").status_code == 409
    [row] = api.get(url).json()["results"]
    assert (row["found"], row["review"], row["unfit"]) == (3, None, [])
    assert row["counts"] == {"waiting": 0, "new": 3, "known": 0, "missing": 0, "unfit": 0}
    studies = api.post(f"{url}studies/", {"review": "30000000", "references": True}, format="json")
    assert (studies.status_code, studies.json()["review"]["pmid"], studies.json()["found"]) == (201, "30000000", 1)
    assert api.post(f"{url}studies/", {"review": "7", "pmids": "1"}, format="json").status_code == 422
    compute_and_store(project=project)
    table = api.get(f"{url}table/").json()
    assert [[cell["text"] for cell in row] for row in table["rows"]] == [
        ["relapse", "3", "0", "0", "3", "1", "0"],
        ["All", "3", "0", "0", "3", "1", "0"],
    ]
    for form, piece in (
        ("csv", "relapse,3,0,0,3,1,0"),
        ("markdown", "| relapse | 3 | 0 |"),
        ("latex", "relapse & 3 & 0"),
    ):
        assert piece in api.get(f"/api/v1/projects/{project.slug}/results/m3-1/{form}/").content.decode()


def test_a_record_found_twice_in_one_search_is_stored_once(project: Project, leader: Member, stub: Stub) -> None:
    stub.fill(1)
    found = done(asked(project, leader))
    assert Hit.objects.get(search=found).pmid == "30000000"
    assert found.job
    assert found.job.status == JobStatus.DONE


def test_studies_that_are_known_by_their_ids_are_read_for_all_reviews_at_once(
    project: Project, leader: Member, stub: Stub, client_of: Callable[[User], APIClient]
) -> None:
    stub.records = {pmid: article(pmid) for pmid in ("40000000", "40000001")}
    for pmid in ("40000000", "40000001", "40000002", "DEMO1"):
        Study.objects.create(project=project, pmid=pmid)
    create_checkpoints()
    path = f"/api/v1/projects/{project.slug}/searches/studies/"
    asks = client_of(leader.user)
    assert asks.get(path).json() == {"unread": 3}
    refused = asks.post(path, {"pmids": "1"}, format="json")
    assert [e["field"] for e in refused.json()["errors"]] == ["review"]
    made = asks.post(path, {}, format="json")
    assert (made.status_code, made.json()["query"], made.json()["review"]) == (201, "", None)
    assert asks.post(path, {}, format="json").status_code == 409, "they are being read"
    assert outcomes(done(Search.objects.get())) == {"known": 2, "missing": 1}
    assert dict(Study.objects.values_list("pmid", "record")) == {
        "40000000": "read",
        "40000001": "read",
        "40000002": "not found",
        "DEMO1": "not read",
    }
    assert not Review.objects.exists()
    assert asks.post(path, {}, format="json").status_code == 409, "nothing is left to read"
    assert list(findings()) == [], "a record was added to what was sealed, and the log says so"
    Study.objects.filter(pmid="40000000").update(title="Something else.")
    assert ["annotation.study" in str(one) for one in findings()] == [True]
