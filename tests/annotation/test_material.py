"""The kinds of material of a project, their lists, and the search over them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Input, Review, Study, Target
from projects.material import registry
from projects.models import Member, Project, Unit
from projects.stored_figures.actions import compute_and_store, content_changed
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.builders import include

Client = Callable[[User], APIClient]


def get(client: APIClient, path: str, **filters: str) -> Any:
    reply = client.get(f"/api/v1/projects/eye/{path}/", filters)
    assert reply.status_code == 200, reply.json()
    return reply.json()


def kinds(client: APIClient) -> dict[str, int | None]:
    return {kind["key"]: kind["count"] for kind in get(client, "materials")["kinds"]}


def documents(project: Project, folder: Path) -> None:
    import_records(project, write(folder / "l1", [plain("1_0", "Nepralin helps.", ("111", "It helped."))]))


def test_a_project_has_the_kinds_that_its_rows_belong_to(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    client = client_of(lead)
    assert kinds(client) == {}
    assert get(client, "materials")["unused_pages"] == ["ranking"]
    import_records(project, write(tmp_path / "d", [plain("1", "Nepralin helps.", ("111", "It helped."))]))
    assert kinds(client) == {"studies": None, "documents": None}
    assert get(client, "materials")["unused_pages"] == ["pubmed", "ranking"]
    documents(project, tmp_path)
    assert kinds(client) == {"studies": None, "documents": None, "sentences": None, "reviews": None}
    assert get(client, "materials")["unused_pages"] == []
    compute_and_store(project=project)
    import_records(project, write(tmp_path / "l3", [cluster("1_0", [source(), source("Other.", "222")])]))
    assert kinds(client) == {
        "clusters": None, "propositions": None, "reviews": 1, "studies": 1, "sentences": 1, "documents": 1,
    }  # fmt: skip


@pytest.mark.parametrize("key", [kind.key for kind in registry.every() if kind.columns])
def test_a_list_takes_the_same_number_of_queries_at_any_size(
    corpus: Project, lead: User, client_of: Client, key: str, tmp_path: Path
) -> None:
    def add(first: int, last: int) -> None:
        records = [plain(f"{n}_0", f"Sentence {n}.", (f"{n}1", "Its source.")) for n in range(first, last)]
        import_records(corpus, write(tmp_path / f"{first}", records))

    costs = set()
    for first, last in ((1, 2), (2, 30)):
        add(first, last)
        with CaptureQueriesContext(connection) as queries:
            get(client_of(lead), f"materials/{key}")
        costs.add(len(queries))
    assert len(costs) == 1


def test_a_project_has_the_same_kinds_by_its_stored_figures(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    client = client_of(lead)
    import_records(project, write(tmp_path / "d", [plain("1", "Nepralin helps.", ("111", "It helped."))]))
    compute_and_store(project=project)
    assert kinds(client) == {"studies": 1, "documents": 1}
    Review.objects.update(title="Nepralin for pain")
    compute_and_store(project=project)
    assert kinds(client) == {"reviews": 1, "studies": 1, "documents": 1}


@pytest.mark.parametrize("key", ["reviews", "studies", "sentences"])
def test_a_list_has_the_same_pages_whether_or_not_its_count_is_stored(
    project: Project, lead: User, client_of: Client, key: str, tmp_path: Path
) -> None:
    records = [plain(f"{n}_0", f"Sentence {n}.", (f"{n}1", "Its source.")) for n in range(1, 8)]
    import_records(project, write(tmp_path / "l", records))
    client = client_of(lead)

    def pages(**filters: str) -> list[Any]:
        return [get(client, f"materials/{key}", page=str(n), page_size="2", **filters) for n in (1, 2, 3, 4)]

    ordering = {"reviews": {"ordering": "-year"}}.get(key, {})
    counted = pages(), pages(**ordering)
    compute_and_store(project=project)
    with CaptureQueriesContext(connection) as queries:
        assert (pages(), pages(**ordering)) == counted
    assert not [query for query in queries if "COUNT(*)" in query["sql"]]
    assert client.get(f"/api/v1/projects/eye/materials/{key}/?page=5&page_size=2").status_code == 404


def test_a_list_is_searched_filtered_and_sorted(corpus: Project, lead: User, client_of: Client) -> None:
    Review.objects.filter(pmid="30000001").update(title="A late review", year=2020)
    Review.objects.filter(pmid="26258610").update(title="Early review", year=2001, is_retracted=True)
    client = client_of(lead)

    def found(**filters: str) -> list[str]:
        return [row["cells"][1] for row in get(client, "materials/reviews", **filters)["results"]]

    assert found(search="late") == found(search="3000") == ["30000001"]
    assert found(state="retracted") == ["26258610"]
    assert found(state="no_studies") == []
    assert found(ordering="year") == ["26258610", "30000001"]
    assert found(ordering="-year") == found(ordering="title") == ["30000001", "26258610"]
    for filters in ({"ordering": "project__members"}, {"state": "odd"}):
        assert client.get("/api/v1/projects/eye/materials/reviews/", filters).status_code == 422
    assert client.get("/api/v1/projects/eye/materials/clusters/").status_code == 404


def test_a_list_of_texts_searches_them_once(project: Project, lead: User, client_of: Client, tmp_path: Path) -> None:
    documents(project, tmp_path)
    with CaptureQueriesContext(connection) as seen:
        assert len(get(client_of(lead), "materials/sentences", search="helps")["results"]) == 1
    assert sum("LIKE" in query["sql"] for query in seen.captured_queries) == 1


def test_the_search_names_pages_that_the_member_may_open(
    corpus: Project, lead: User, viewer: Member, client_of: Client
) -> None:
    Study.objects.update(title="Nepralin")
    Review.objects.update(title="Nepralin reviewed")

    def found(user: User) -> list[tuple[str, int]]:
        return [(kind["key"], kind["total"]) for kind in get(client_of(user), "search", search="NEPRALIN")]

    assert found(lead) == [("clusters", 3), ("reviews", 2)]
    assert found(viewer.user) == [("clusters", 3)]


def test_a_search_lists_a_limited_number_of_matches_and_says_so(
    project: Project, lead: User, client_of: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [plain(f"{n}_0", f"Nepralin helps {n}.", (f"{n}1", "Its source.")) for n in range(1, 6)]
    import_records(project, write(tmp_path / "l", records))
    monkeypatch.setattr("api.pagination.MOST_MATCHES", 3)
    client = client_of(lead)

    def found(page: str, **filters: str) -> tuple[int, bool, list[str]]:
        reply = get(client, "materials/sentences", page=page, page_size="2", **filters)
        return reply["count"], reply["capped"], [row["cells"][0] for row in reply["results"]]

    assert found("1", search="NEPRALIN") == (3, True, ["Nepralin helps 1.", "Nepralin helps 2."])
    assert found("2", search="nepralin") == (3, True, ["Nepralin helps 3."])
    assert client.get("/api/v1/projects/eye/materials/sentences/?search=nepralin&page=3&page_size=2").status_code == 404
    assert found("1", search="helps 4") == (1, False, ["Nepralin helps 4."])
    assert found("3") == (5, False, ["Nepralin helps 5."])
    [sentences] = [kind for kind in get(client, "search", search="nepralin") if kind["key"] == "sentences"]
    assert (sentences["total"], sentences["capped"], len(sentences["matches"])) == (3, True, 3)


def test_rows_in_a_state_are_stored_and_read_again_after_a_change(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    records = [plain(f"{n}_0", f"Sentence {n}.", (f"{n}1", "Its source.")) for n in (1, 2)]
    import_records(project, write(tmp_path / "l", records))
    client = client_of(lead)

    def without_inputs() -> tuple[list[str], bool]:
        with CaptureQueriesContext(connection) as queries:
            rows = get(client, "materials/sentences", state="no_inputs")["results"]
        is_read = any("EXISTS" in query["sql"] and "annotation_input" in query["sql"] for query in queries)
        return [row["cells"][0] for row in rows], is_read

    Input.objects.filter(target__key="1_0").update(is_current=False)
    assert without_inputs() == (["Sentence 1."], True)
    compute_and_store(project=project)
    assert without_inputs() == (["Sentence 1."], False)
    Input.objects.update(is_current=False)
    content_changed(Q(pk=project.pk))
    assert without_inputs() == (["Sentence 1.", "Sentence 2."], True)


def test_postgresql_finds_rare_words_by_an_index(
    project: Project, lead: User, client_of: Client, tmp_path: Path
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no such index")
    records = [plain(f"{n}_0", f"Nepralin helps {n}.", (f"{n}1", "Its source.")) for n in range(1, 30)]
    import_records(project, write(tmp_path / "l", records))
    rows = registry.get("sentences").matching(Target.with_arriving.order_by(), "helps 17")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "target_search" in rows.explain()
    assert [row.key for row in rows] == ["17_0"]


@pytest.mark.django_db
def test_reviews_are_filtered_by_year_and_number_of_studies(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    for number, (year, studies) in enumerate([(2021, 0), (2009, 5), (2010, 6), (None, 26)]):
        unit = Unit.objects.create(project=project, type="review", key=str(number))
        review = Review.objects.create(project=project, pmid=unit.key, unit=unit, year=year)
        for n in range(studies):
            include(review, Study.objects.create(project=project, pmid=f"{number}000{n}"))
    expected: dict[tuple[str, str], list[str]] = {
        ("year", "2020"): ["0"], ("year", "2000-2009"): ["1"], ("year", "2010-2014"): ["2"], ("year", "unknown"): ["3"],
        ("year", "1999"): [], ("studies", "0"): ["0"], ("studies", "1-5"): ["1"], ("studies", "6-10"): ["2"],
        ("studies", "11-25"): [], ("studies", "26"): ["3"],
    }  # fmt: skip
    for (name, option), pmids in expected.items():
        rows = get(client, "materials/reviews", **{name: option})["results"]
        assert [row["cells"][1] for row in rows] == pmids, (name, option)
    assert get(client, "materials/reviews", year="2010-2014", studies="1-5")["results"] == []
    assert client.get("/api/v1/projects/eye/materials/reviews/?year=last").status_code == 422
    # The list of studies has no such filters.
    assert get(client, "materials/studies", year="2020")["count"] == 37


@pytest.mark.django_db
def test_a_state_has_its_count_while_the_stored_one_is_current(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)

    def states() -> dict[str, int | None]:
        (reviews,) = (kind for kind in get(client, "materials")["kinds"] if kind["key"] == "reviews")
        return {state["key"]: state["count"] for state in reviews["states"]}

    unit = Unit.objects.create(project=project, type="review", key="1")
    Review.objects.create(project=project, pmid="1", unit=unit)
    assert states() == {"no_studies": None, "no_targets": None, "retracted": None}
    compute_and_store(project=project)
    assert states() == {"no_studies": 1, "no_targets": 1, "retracted": None}
    content_changed(Q(pk=project.pk))
    assert states()["no_studies"] is None
