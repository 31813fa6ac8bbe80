"""Stale values are listed and redone or confirmed; nothing is deleted."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Cluster
from audit.models import Entry
from projects.curation.actions import correct
from projects.gold.queries import current_values
from projects.guidelines.actions import write_guideline
from projects.models import Answer, Decision, Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.staleness.actions import changed
from tests.builders import TEXT, answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture
def cluster(project: Project) -> Cluster:
    return build_cluster(project, inputs=2)


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def decide_all(cluster: Cluster, by: Member, **value: Any) -> None:
    for p in cluster.propositions.select_related("unit"):
        correct(unit=p.unit, kind="label", value=label_value(**value), reason="First.", by=by)


def change_tuple(cluster: Cluster, by: Member) -> None:
    units = [p.unit for p in cluster.propositions.select_related("unit")]
    changed(units=units, what="tuple", reason="Another outcome.", by=by, before="relapse", after="recovery")


def test_stale_values_are_listed_with_the_change_and_earlier_value(
    cluster: Cluster, by: Member, client: APIClient, project: Project
) -> None:
    decide_all(cluster, by)
    change_tuple(cluster, by)
    body = client.get(f"{API}/projects/{project.slug}/stale/", {"kind": "label", "what": "tuple"}).json()
    assert body["count"] == 3
    first = body["results"][0]
    assert {k: first[k] for k in ("what", "before", "after", "reason", "text", "changed_by")} == {
        "what": "tuple",
        "before": "relapse",
        "after": "recovery",
        "reason": "Another outcome.",
        "text": TEXT,
        "changed_by": by.pseudonym,
    }
    assert first["said"][0] == {"field": "polarity", "value": "no effect"}
    assert client.get(f"{API}/projects/{project.slug}/stale/totals/").json() == {"changed": 3, "outdated": []}
    assert client.get(f"{API}/projects/{project.slug}/stale/", {"what": "text"}).json()["count"] == 0


def test_confirming_decides_the_same_values_with_the_same_sources(
    cluster: Cluster, by: Member, client: APIClient, project: Project
) -> None:
    decide_all(cluster, by, polarity_cue=[(0, 7)])
    change_tuple(cluster, by)
    unit = cluster.propositions.get(position=0).unit
    before = current_values([unit], "label")
    reply = client.post(f"{API}/units/{unit.pk}/confirmations/", {"kind": "label"}, format="json")
    assert reply.status_code == 201
    assert reply.json()["fields_changed"] == ["polarity", "polarity_cue", "modality", "modality_cue"]
    assert current_values([unit], "label") == before
    assert Decision.objects.filter(unit=unit).count() == 8
    assert client.get(f"{API}/projects/{project.slug}/stale/").json()["count"] == 2
    again = client.post(f"{API}/units/{unit.pk}/confirmations/", {"kind": "label"}, format="json")
    assert again.status_code == 409


def test_a_label_is_carried_over_to_a_corrected_text_with_its_cues_where_they_stand_now(
    cluster: Cluster, by: Member, client: APIClient, project: Project
) -> None:
    decide_all(cluster, by, polarity_cue=[(0, 7), (17, 20)])
    old = cluster.propositions.get(position=1).unit
    text = "In adults, " + TEXT.replace("Neither", "Neither,")
    made = client.post(f"{API}/units/{old.pk}/text/", {"text": text, "reason": "A comma."}, format="json").json()
    [row] = client.get(f"{API}/projects/{project.slug}/stale/").json()["results"]
    assert (row["unit"], row["before"], row["after"]) == (made["unit"], TEXT, text)
    assert {"field": "polarity", "value": "no effect"} in row["said"]
    reply = client.post(f"{API}/units/{made['unit']}/confirmations/", {"kind": "label"}, format="json")
    assert reply.status_code == 201, reply.content
    new = cluster.propositions.get(position=1, version=2).unit
    assert current_values([new], "label")[new.pk]["polarity_cue"] == [
        {"start": 11, "end": 18, "quote": "Neither"},
        {"start": 29, "end": 32, "quote": "nor"},
    ]
    assert client.get(f"{API}/projects/{project.slug}/stale/totals/").json()["changed"] == 0


@pytest.mark.parametrize(
    ("text", "how"), [("No association with relapse was seen.", "nowhere"), (f"Neither is so. {TEXT}", "2 times")]
)
def test_an_ambiguous_cue_of_a_corrected_text_must_be_marked_again(
    text: str, how: str, cluster: Cluster, by: Member, client: APIClient
) -> None:
    decide_all(cluster, by, polarity_cue=[(0, 7)])
    old = cluster.propositions.get(position=1).unit
    made = client.post(f"{API}/units/{old.pk}/text/", {"text": text, "reason": "Wrong."}, format="json").json()
    reply = client.post(f"{API}/units/{made['unit']}/confirmations/", {"kind": "label"}, format="json")
    assert reply.status_code == 422
    assert how in reply.json()["detail"]
    place = client.get(f"{API}/units/{made['unit']}/place/").json()
    key = "DEMO0000_0/1~2"
    names = {"unit": made["unit"], "key": key, "unit_name": key}
    assert place == names | {"cluster": cluster.pk, "review": None, "is_of_questions": False}
    page = client.get(f"{API}/clusters/{cluster.pk}/").json()
    assert [p["is_stale"] for p in page["propositions"]] == [False, True, False]
    assert page["propositions"][1]["earlier"] == [{"unit": old.pk, "version": 1, "text": TEXT}]


def test_a_new_guideline_lists_older_answers_until_they_are_decided_again(
    cluster: Cluster, by: Member, client: APIClient, project: Project, lead: User, ann1: User
) -> None:
    member = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [member], purpose="measure only", overlap=1)
    while held := next_assignments(user=ann1, round=round):
        answer(ann1, held[0])
    close_round(round=round, by=None)
    outdated = f"{API}/projects/{project.slug}/outdated-answers/"
    assert client.get(outdated).json()["count"] == 0
    write_guideline(project=project, kind="label", text="Read twice.", by=lead)
    body = client.get(outdated, {"kind": "label"}).json()
    assert body["count"] == 3
    row = body["results"][0]
    assert (row["guideline"], row["person"], row["round"]) == (1, member.pseudonym, "round")
    assert {"field": "modality", "value": "moderate"} in row["said"]
    assert client.get(f"{API}/projects/{project.slug}/stale/totals/").json()["outdated"] == [
        {"kind": "label", "round": round.pk, "name": "round", "guideline": 1, "newest": 2, "answers": 3}
    ]
    unit = cluster.propositions.get(position=2).unit
    correct(unit=unit, kind="label", value=label_value(), reason="Read twice.", by=by)
    assert client.get(outdated).json()["count"] == 2


def test_answers_can_be_upheld_in_bulk_until_the_next_guideline(
    cluster: Cluster, by: Member, client: APIClient, project: Project, lead: User, ann1: User
) -> None:
    """A reliability study decides nothing, so its answers would otherwise stay stale forever."""
    member = Member.objects.get(project=project, user=ann1)
    rounds = [build_round(project, [member], name=name, purpose="measure only") for name in ("One", "Two")]
    for round in rounds:
        while held := next_assignments(user=ann1, round=round):
            answer(ann1, held[0])
        close_round(round=round, by=None)
    first, other = rounds
    totals, upheld = f"{API}/projects/{project.slug}/stale/totals/", f"{API}/rounds/{first.pk}/upheld-answers/"

    def waiting() -> list[tuple[str, int, int, int]]:
        rows = client.get(totals).json()["outdated"]
        return [(row["name"], row["guideline"], row["newest"], row["answers"]) for row in rows]

    assert client.post(upheld, {"guideline": 1}, format="json").status_code == 409
    write_guideline(project=project, kind="label", text="Read twice.", by=lead)
    assert waiting() == [("One", 1, 2, 3), ("Two", 1, 2, 3)]
    before = list(Answer.objects.values_list("pk", "digest", "guideline__number"))
    reply = client.post(upheld, {"guideline": 1, "reason": "One line was added."}, format="json")
    assert (reply.status_code, reply.json()) == (201, {"answers": 3})
    assert waiting() == [("Two", 1, 2, 3)]
    outdated = f"{API}/projects/{project.slug}/outdated-answers/"
    everything = client.get(outdated).json()
    assert everything["count"] == 3
    pages = [client.get(outdated, {"page_size": 1, "page": n}).json()["results"] for n in (1, 2, 3)]
    assert [row for page in pages for row in page] == everything["results"]
    entry = Entry.objects.get(verb="uphold answers")
    assert (entry.object_id, entry.reason, entry.actor_id) == (str(first.pk), "One line was added.", by.user_id)
    assert entry.after == {"guideline": 1, "newest": 2, "answers": 3}
    assert client.post(upheld, {"guideline": 1}, format="json").status_code == 409
    assert client.post(upheld, {"guideline": 0}, format="json").status_code == 422
    assert list(Answer.objects.values_list("pk", "digest", "guideline__number")) == before
    write_guideline(project=project, kind="label", text="Read three times.", by=lead)
    assert waiting() == [("One", 1, 3, 3), ("Two", 1, 3, 3)]
    assert other.assignments.count() == 3


def test_a_round_can_be_opened_for_stale_units(cluster: Cluster, by: Member, project: Project) -> None:
    decide_all(cluster, by)
    unit = cluster.propositions.get(position=1).unit
    changed(units=[unit], what="tuple", reason="Another outcome.", by=by)
    round = build_round(project, [by], filters={"stale": True})
    assert list(round.assignments.values_list("unit", flat=True)) == [unit.pk]


def test_the_lists_cost_the_same_number_of_queries_whatever_their_length(
    by: Member, client: APIClient, project: Project, ann1: User
) -> None:
    costs = []
    for n in (1, 2):
        cluster = build_cluster(project, number=n, inputs=5)
        decide_all(cluster, by)
        change_tuple(cluster, by)
        round = build_round(project, [Member.objects.get(project=project, user=ann1)], name=f"round {n}")
        answer(ann1, next_assignments(user=ann1, round=round)[0])
        write_guideline(project=project, kind="label", text=f"Version {n}.", by=None)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"{API}/projects/{project.slug}/stale/").json()["count"] == 6 * n
            assert client.get(f"{API}/projects/{project.slug}/outdated-answers/").json()["count"] >= n
            client.get(f"{API}/projects/{project.slug}/stale/totals/")
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_only_answers_that_a_later_version_concerns_are_outdated(
    cluster: Cluster, by: Member, ann1: User, client: APIClient, project: Project
) -> None:
    outdated = f"{API}/projects/{project.slug}/outdated-answers/"
    member = Member.objects.get(project=project, user=ann1)
    round = build_round(project, [member])
    values = iter([label_value("negative", modality) for modality in ("weak", "strong", "strong")])
    while held := next_assignments(user=ann1, round=round):
        answer(ann1, held[0], next(values))

    def write(**change: Any) -> None:
        write_guideline(project=project, kind="label", text="New text", by=None, **change)

    def counted() -> int:
        return int(client.get(outdated, {"kind": "label"}).json()["count"])

    write(scope="wording")
    assert counted() == 0
    weak = {"field": "modality", "values": ["weak"]}
    write(scope="values", concerns=[weak], reason="May is weak.")
    assert counted() == 1
    write(scope="wording")
    assert [row["guideline"] for row in client.get(outdated).json()["results"]] == [1]
    assert client.get(f"{API}/projects/{project.slug}/stale/totals/").json()["outdated"][0]["newest"] == 3
    upheld = client.post(f"{API}/rounds/{round.pk}/upheld-answers/", {"guideline": 1, "reason": ""}, format="json")
    assert (upheld.status_code, counted()) == (201, 0)
    write(scope="wording")
    assert counted() == 0, "a change of wording asks for no second confirmation"
    write(scope="values", concerns=[{"field": "modality", "values": []}], reason="Read all again.")
    assert counted() == 3
