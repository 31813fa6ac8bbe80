"""The API of outputs beside inputs and target, and its permissions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from generation.models import Embargo
from generation.runs.queries import progress_of
from generation.sources import units_of
from projects.models import Project
from tests.annotation.m3_files import cluster, import_records, plain, write
from tests.builders import TEXT, build_cluster
from tests.generation.builders import build_run, build_version

Client = Callable[[User], APIClient]
ADDRESS = "/api/v1/projects/eye/outputs/"


@pytest.fixture
def units(project: Project) -> list[int]:
    return [build_cluster(project, n).unit_id for n in range(4)]


def get(client: APIClient, **query: Any) -> Any:
    return client.get(ADDRESS, query).json()


def test_a_unit_has_its_inputs_its_target_and_what_each_system_wrote(
    project: Project, lead: User, client_of: Client, units: list[int]
) -> None:
    build_run(build_version(project, "one"), {units[0]: "What one wrote."})
    build_run(build_version(project, "two"), {units[1]: "What two wrote."}, failed=(units[0],), waiting=(units[2],))
    page = get(client_of(lead), page_size=3)
    assert (page["count"], [row["position"] for row in page["results"]]) == (4, [1, 2, 3])
    first, second, third = page["results"]
    assert (first["key"], [text["text"] for text in first["inputs"]]) == ("DEMO0000_0", [TEXT, TEXT])
    assert [reference["text"] for reference in first["references"]] == [TEXT]
    assert first["pico"]["i"] == "nepralin"
    assert [(cell["system"], cell["state"]) for cell in first["outputs"]] == [("one", "done"), ("two", "failed")]
    assert first["outputs"][0]["summary"]["text"] == "What one wrote."
    assert first["outputs"][0]["summary"]["tokens_cut"] == 3
    assert first["outputs"][1] | {"error": "Too long.", "summary": None} == first["outputs"][1]
    assert [cell["state"] for cell in second["outputs"]] == ["absent", "done"]
    assert [cell["state"] for cell in third["outputs"]] == ["absent", "waiting"]


def test_the_part_not_sent_to_an_endpoint_is_shown_in_its_own_unit(
    project: Project, lead: User, client_of: Client, units: list[int]
) -> None:
    record = {"raw": "{}", "cut": {"unit": "words", "of": 8, "left out": 3}}
    cut = build_run(build_version(project, "cut"), {units[0]: "One."}, tokens_cut=None, record=record)
    whole = build_run(build_version(project, "whole"), {units[0]: "Two."}, tokens_cut=None, record={"raw": "{}"})
    [row] = get(client_of(lead), page_size=1)["results"]
    assert [cell["summary"]["cut"] for cell in row["outputs"]] == [{"unit": "words", "of": 8, "left_out": 3}, None]
    [text] = client_of(lead).get(f"/api/v1/runs/{cut.pk}/summaries/").json()["results"]
    assert text["cut"] == {"unit": "words", "of": 8, "left_out": 3}
    assert [(p.items_cut, p.tokens_cut) for p in map(progress_of, (cut, whole))] == [(1, None), (0, None)]


def test_copied_tokens_are_marked_by_code_points(
    project: Project, lead: User, client_of: Client, units: list[int]
) -> None:
    copied = "NEPRALIN nor placebo had a significant"
    build_run(build_version(project, "one"), {units[0]: f"𝛽 says that {copied} role.", units[1]: ""})
    first, second = (row["outputs"][0]["summary"] for row in get(client_of(lead), page_size=2)["results"])
    [marked] = first["copying"]["ranges"]
    assert first["text"][marked["start"] : marked["end"]] == copied
    assert (first["copying"]["longest"], first["copying"]["coverage"]) == (6, pytest.approx(7 / 11))
    assert (
        second["copying"] | {"coverage": None, "longest": None, "undefined": "the output is empty"} == second["copying"]
    )


def test_the_versions_asked_for_come_in_that_order_with_the_newest_run_of_each(
    project: Project, lead: User, client_of: Client, units: list[int]
) -> None:
    one, two = build_version(project, "one"), build_version(project, "two")
    build_run(one, {units[0]: "old"})
    build_run(one, {units[0]: "new"})
    build_run(two, {units[0]: "two"})
    [row] = get(client_of(lead), versions=f"{two.pk},{one.pk}", page_size=1)["results"]
    assert [cell["summary"]["text"] for cell in row["outputs"]] == ["two", "new"]
    reply = client_of(lead).get(ADDRESS, {"versions": str(one.pk), "level": "sentence"})
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "versions")
    for wrong in ("x", "1,-2", "9" * 30, "999999"):
        assert client_of(lead).get(ADDRESS, {"versions": wrong}).status_code == 422, wrong


def test_a_unit_is_found_on_its_page(project: Project, lead: User, client_of: Client, units: list[int]) -> None:
    page = get(client_of(lead), unit=units[2], page_size=1)
    assert [(row["unit"], row["position"]) for row in page["results"]] == [(units[2], 3)]
    review = project.units.filter(type="review").first()
    assert review is not None
    for unit in (review.pk, 999_999):
        assert client_of(lead).get(ADDRESS, {"unit": unit}).status_code == 404


def test_more_units_and_systems_take_no_more_queries(
    project: Project, lead: User, client_of: Client, units: list[int]
) -> None:
    client = client_of(lead)

    def asked(size: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            get(client, page_size=size)
        return len(queries)

    build_run(build_version(project, "one"), dict.fromkeys(units, "text"))
    few = asked(1)
    for n in range(4):
        build_run(build_version(project, f"more {n}"), dict.fromkeys(units, "text"))
    assert asked(4) == few <= 16


def test_outputs_of_an_embargoed_run_are_hidden_from_its_rater_only(
    project: Project, lead: User, client_of: Client, units: list[int]
) -> None:
    other = build_run(build_version(project, "open"), {units[0]: "open text"})
    run = build_run(build_version(project, "secret"), {units[0]: "secret text"}, failed=(units[1],))
    embargo = Embargo.objects.create(run=run, member=project.members.get(user=lead))
    client = client_of(lead)
    places = [
        ADDRESS,
        f"/api/v1/runs/{run.pk}/",
        f"/api/v1/runs/{run.pk}/summaries/",
        f"/api/v1/runs/{run.pk}/items/",
        f"/api/v1/versions/{run.version_id}/",
        "/api/v1/projects/eye/systems/",
    ]
    for place in places:
        reply = client.get(place)
        assert (reply.status_code, "secret text" in reply.content.decode()) == (200, False), place
    row = get(client, page_size=1)["results"][0]
    assert [(cell["state"], cell["summary"] is None) for cell in row["outputs"]] == [("done", False), ("hidden", True)]
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["hidden"] is True
    assert client.get(f"/api/v1/runs/{other.pk}/").json()["hidden"] is False
    assert client.post(f"/api/v1/embargoes/{embargo.pk}/lift/").status_code == 200
    assert get(client, page_size=1)["results"][0]["outputs"][1]["summary"]["text"] == "secret text"
    assert client.get(f"/api/v1/runs/{run.pk}/summaries/").json()["results"][0]["text"] == "secret text"


def test_documents_and_sentences_have_outputs_too_found_by_their_own_units(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    """A document's unit is the review, shown with its propositions."""
    for name, record in (
        ("level1", plain("111", "It helps, and is safe.", ("1", "Trial one."), ("2", "Trial two."))),
        ("level2", plain("111_0", "It helps.", ("1", "One helped."))),
        ("level3", cluster("111_0", target_text="It reduces relapse.")),
    ):
        import_records(project, write(tmp_path / f"{name}.jsonl", [record]), level=name[-1])
    expected = {"document": ["It helps, and is safe.", "It reduces relapse."], "sentence": ["It helps."]}
    for level, texts in expected.items():
        [unit] = units_of(project, level)
        build_run(build_version(project, level=level), {unit: f"Of a {level}."})
        page = get(client_of(lead), level=level, unit=unit)
        [row] = page["results"]
        assert ([reference["text"] for reference in row["references"]], row["position"]) == (texts, 1)
        assert [cell["summary"]["text"] for cell in row["outputs"]] == [f"Of a {level}."]
