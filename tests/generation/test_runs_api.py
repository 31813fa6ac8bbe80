"""The API of runs: start, progress, stop, resume, retry, embargo."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from generation.models import Run, Version
from projects.models import Member, Project
from tests.builders import build_cluster
from tests.generation.builders import build_run, build_version

Client = Callable[[User], APIClient]


@pytest.fixture
def version(project: Project) -> Version:
    for n in range(3):
        build_cluster(project, n)
    return build_version(project)


def post(client: APIClient, address: str, body: dict[str, Any] | None = None) -> Any:
    return client.post(f"/api/v1/{address}", body or {}, format="json")


def test_a_run_is_begun_stopped_and_resumed_by_a_lead(version: Version, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    reply = post(client, f"versions/{version.pk}/runs/")
    run = reply.json()
    assert (reply.status_code, run["status"], run["progress"]["waiting"], run["by"]) == (201, "running", 3, "Lead")
    assert (run["system_name"], run["number"]) == ("lead-3", 1)
    assert post(client, f"versions/{version.pk}/runs/").status_code == 409, "one at a time"
    stopped = post(client, f"runs/{run['id']}/stop/")
    assert (stopped.status_code, stopped.json()["progress"]["state"]) == (200, "stopped")
    assert post(client, f"runs/{run['id']}/stop/").status_code == 409
    resumed = post(client, f"runs/{run['id']}/resume/")
    assert (resumed.status_code, resumed.json()["status"], resumed.json()["finished_at"]) == (200, "running", None)
    verbs = list(Entry.objects.filter(object_type="run").order_by("pk").values_list("verb", flat=True))
    assert verbs == ["start run", "stop run", "resume run"]


def test_failed_items_are_listed_with_their_reasons_and_tried_again(
    version: Version, project: Project, lead: User, client_of: Client
) -> None:
    units = list(project.units.filter(type="cluster").order_by("pk").values_list("pk", flat=True))
    run, client = build_run(version, {units[0]: "x"}, failed=(units[1],)), client_of(lead)
    items = client.get(f"/api/v1/runs/{run.pk}/items/", {"status": "failed"}).json()
    assert [(item["unit"], item["error"], item["key"]) for item in items["results"]] == [
        (units[1], "Too long.", "DEMO0001_0")
    ]
    assert client.get(f"/api/v1/runs/{run.pk}/items/", {"status": "lost"}).status_code == 422
    assert client.get(f"/api/v1/runs/{run.pk}/items/").json()["count"] == 2
    retried = post(client, f"runs/{run.pk}/retry/").json()
    assert (retried["status"], retried["progress"]["failed"], retried["progress"]["waiting"]) == ("running", 0, 1)
    post(client, f"runs/{run.pk}/stop/")
    assert post(client, f"runs/{run.pk}/retry/").status_code == 409, "nothing has failed"


def test_a_backend_without_likelihoods_refuses_to_be_probed_and_says_why(
    version: Version, lead: User, client_of: Client
) -> None:
    reply = post(client_of(lead), f"versions/{version.pk}/runs/", {"purpose": "probe"})
    assert reply.status_code == 422
    assert "likelihood" in reply.json()["detail"]


def test_looking_at_a_run_again_and_again_is_cheap(
    version: Version, lead: User, client_of: Client, django_assert_max_num_queries: Any
) -> None:
    client = client_of(lead)
    run = post(client, f"versions/{version.pk}/runs/").json()["id"]
    with django_assert_max_num_queries(11):
        assert client.get(f"/api/v1/runs/{run}/").status_code == 200


def test_outputs_are_hidden_from_people_of_the_project_and_shown_again(
    version: Version, project: Project, lead: User, evaluator: User, stranger: User, client_of: Client
) -> None:
    run, client = build_run(version, {}), client_of(lead)
    rater = project.members.get(user=evaluator)
    reply = post(client, f"runs/{run.pk}/embargoes/", {"members": [rater.pk, rater.pk]})
    assert (reply.status_code, [(s["member"], s["name"]) for s in reply.json()]) == (201, [(rater.pk, "Evaluator")])
    embargo = reply.json()[0]["id"]
    assert client.get(f"/api/v1/runs/{run.pk}/embargoes/").json()["results"][0]["lifted_at"] is None
    assert post(client, f"embargoes/{embargo}/lift/").json()["lifted_at"]
    assert post(client, f"embargoes/{embargo}/lift/").status_code == 409
    elsewhere = Member.objects.create(
        project=Project.objects.create(slug="other", name="Other"), user=stranger, role="lead", pseudonym="X"
    )
    for members in ([elsewhere.pk], [999_999], [], ["x"]):
        reply = post(client, f"runs/{run.pk}/embargoes/", {"members": members})
        assert reply.status_code == 422, members
    assert not elsewhere.embargoes.exists()
    assert Run.objects.get().embargoes.count() == 1


def test_a_viewer_sees_from_whom_a_run_is_hidden_by_pseudonym_only(
    version: Version, project: Project, lead: User, evaluator: User, stranger: User, client_of: Client
) -> None:
    Member.objects.create(project=project, user=stranger, role="viewer", pseudonym="V1")
    run, rater = build_run(version, {}), project.members.get(user=evaluator)
    post(client_of(lead), f"runs/{run.pk}/embargoes/", {"members": [rater.pk]})
    [embargo] = client_of(stranger).get(f"/api/v1/runs/{run.pk}/embargoes/").json()["results"]
    assert (embargo["pseudonym"], embargo["name"]) == (rater.pseudonym, "")
