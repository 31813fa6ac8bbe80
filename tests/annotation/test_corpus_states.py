"""Filtering the corpus by state, highlighting matches, and moving through a list."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation.corpus.queries import STATES, clusters, highlight, states
from annotation.kinds.supersede import supersede_text
from annotation.models import Cluster, Finding
from projects.models import Decision, Member, Origin, Project, Unit
from projects.people.actions import add_member
from projects.queue.actions import next_assignments
from sql.expressions import fold_case
from tests.builders import answer, build_finding, build_round, label_value

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]
FIRST, SECOND, THIRD = "26258610_0", "26258610_1", "30000001_0"


def keys(client: APIClient, **filters: str) -> list[str]:
    reply = client.get("/api/v1/projects/eye/clusters/", filters)
    assert reply.status_code == 200, reply.json()
    return [row["key"] for row in reply.json()["results"]]


def of(key: str) -> Cluster:
    return Cluster.objects.get(key=key)


def test_clusters_are_narrowed_by_what_waits_in_them_or_their_propositions(
    corpus: Project, lead: User, ann1: User, client_of: Client
) -> None:
    client, me = client_of(lead), Member.objects.get(project=corpus, user=lead)
    for state in ("contested", "flagged", "stale", "findings"):
        assert keys(client, state=state) == [], state
    target = of(SECOND).propositions.get(position=0)
    Decision.objects.create(
        unit=target.unit, kind="label", field="polarity", origin=Origin.CONTESTED, decided_at=timezone.now()
    )
    assert keys(client, state="contested") == [SECOND]
    build_finding(corpus, of(FIRST).unit_id, of(THIRD).propositions.get(position=1).unit_id)
    assert keys(client, state="findings") == [FIRST, THIRD], "all units that a finding names"
    unlabelled = keys(client, state="unlabelled")
    corrected = of(THIRD).propositions.get(position=0)
    supersede_text(proposition=corrected, by=me, text=f"{corrected.text} Anew.", reason="A word was missing.")
    assert keys(client, state="stale") == [THIRD]
    assert keys(client, state="unlabelled") == sorted({*unlabelled, THIRD})
    assert keys(client, state="stale", search="no such words") == []


def test_states_are_counted_under_other_filters_and_some_for_curators_only(
    corpus: Project, lead: User, stranger: User, client_of: Client
) -> None:
    build_finding(corpus, of(FIRST).unit_id)
    client, path = client_of(lead), "/api/v1/projects/eye/clusters/states/"
    counts = {row["state"]: row["clusters"] for row in client.get(path, {"state": "stale"}).json()}
    assert counts == {"": len(keys(client)), **{s: len(keys(client, state=s)) for s in counts if s}}
    assert counts["findings"] == 1
    assert {row["clusters"] for row in client.get(path, {"search": "no such words"}).json()} == {0}
    add_member(project=corpus, user=stranger, role="viewer", by=None)
    assert {row["state"] for row in client_of(stranger).get(path).json()} == {
        "",
        "contested",
        "no_inputs",
        "stale",
        "unlabelled",
    }


def test_the_counts_of_all_states_are_a_query_each_and_two_for_the_stored_ones(
    corpus: Project, django_assert_num_queries: Any
) -> None:
    for unit in Unit.objects.filter(project=corpus):
        build_finding(corpus, unit.pk)
    for filters, queries in (({"review": "30000001"}, 9), ({}, 8)):
        with django_assert_num_queries(queries):
            found = {row["state"]: row["clusters"] for row in states(corpus, filters, curates=True)}
        assert found["findings"] == found[""]


def test_a_list_applies_its_filters_once_for_its_count_and_its_page(
    corpus: Project, lead: User, client_of: Client
) -> None:
    for unit in Unit.objects.filter(project=corpus):
        build_finding(corpus, unit.pk)
    with CaptureQueriesContext(connection) as seen:
        assert FIRST in keys(client_of(lead), state="findings", ordering="state")
    # The other statement finds the states of the clusters of the page.
    assert sum(Finding._meta.db_table in query["sql"] for query in seen.captured_queries) == 2


@pytest.mark.parametrize(("origin", "is_unlabelled"), [(Origin.CONTESTED, False), (Origin.REOPENED, True)])
def test_a_contested_label_counts_as_labelled_and_a_reverted_one_does_not(
    corpus: Project, lead: User, client_of: Client, origin: Origin, is_unlabelled: bool
) -> None:
    assert FIRST not in keys(client_of(lead), state="unlabelled")
    unit = of(FIRST).propositions.get(position=1).unit
    Decision.objects.create(unit=unit, kind="label", field="modality", origin=origin, decided_at=timezone.now())
    assert (FIRST in keys(client_of(lead), state="unlabelled")) is is_unlabelled


def test_open_flags_can_be_filtered(corpus: Project, lead: User, ann1: User, client_of: Client) -> None:
    round = build_round(corpus, [Member.objects.get(project=corpus, user=ann1)])
    slot = next_assignments(user=ann1, round=round)[0]
    answer(ann1, slot, label_value(), flag=True)
    assert len(keys(client_of(lead), state="flagged")) == 1


def test_flags_and_findings_are_for_curators(corpus: Project, stranger: User, client_of: Client) -> None:
    add_member(project=corpus, user=stranger, role="viewer", by=None)
    for state in ("flagged", "findings"):
        assert client_of(stranger).get("/api/v1/projects/eye/clusters/", {"state": state}).status_code == 403
        near = client_of(stranger).get(f"/api/v1/clusters/{of(FIRST).pk}/neighbours/", {"state": state})
        assert near.status_code == 403
    assert keys(client_of(stranger), state="contested") == []
    build_finding(corpus, of(FIRST).unit_id)
    assert client_of(stranger).get(f"/api/v1/clusters/{of(FIRST).pk}/").json()["findings"] == []


def test_a_cluster_shows_what_the_consistency_check_found_in_it(corpus: Project, lead: User, client_of: Client) -> None:
    build_finding(corpus, of(FIRST).unit_id, of(SECOND).unit_id)
    build_finding(corpus, of(SECOND).unit_id, of(SECOND).propositions.get(position=1).unit_id, reason="It does again.")
    costs = set()
    for key, reasons in ((FIRST, ["It looks wrong."]), (SECOND, ["It looks wrong.", "It does again."]), (THIRD, [])):
        address = f"/api/v1/clusters/{of(key).pk}/"
        with CaptureQueriesContext(connection) as queries:
            found = client_of(lead).get(address).json()["findings"]
        assert [f["reason"] for f in found] == reasons
        costs.add(len(queries))
    assert len(costs) == 1


def test_corpus_queries_have_the_same_length_for_any_number_of_units(corpus: Project) -> None:
    """No query contains a list of ids, whose length databases limit."""
    asked = str(clusters(corpus, {"state": "findings"}).query)
    build_finding(corpus, *Unit.objects.filter(project=corpus).values_list("pk", flat=True))
    assert str(clusters(corpus, {"state": "findings"}).query) == asked


def test_next_and_previous_are_those_of_the_list_that_one_came_from(
    corpus: Project, lead: User, client_of: Client
) -> None:
    def near(key: str, **filters: str) -> Any:
        return client_of(lead).get(f"/api/v1/clusters/{of(key).pk}/neighbours/", filters).json()

    first, third = of(FIRST).pk, of(THIRD).pk
    assert near(SECOND) == {"previous": first, "next": third, "number": 2, "of": 3}
    assert near(SECOND, review="26258610") == {"previous": first, "next": None, "number": 2, "of": 2}
    assert near(FIRST, search="30000001") == {"previous": None, "next": third, "number": None, "of": 1}


def test_whole_words_come_before_partial_ones_in_the_list_and_between_neighbours(
    corpus: Project, lead: User, client_of: Client
) -> None:
    for key, text in ((FIRST, "a painful relapse"), (SECOND, "pain(s) and relapse"), (THIRD, "Pain; painkillers")):
        Cluster.objects.filter(key=key).update(search=fold_case(text))
    client = client_of(lead)
    assert keys(client, search=" PAIN ") == [SECOND, THIRD, FIRST]
    assert keys(client, search="pain(s)") == [SECOND]
    assert keys(client, search="ful relapse") == [FIRST]
    for number, key in enumerate((SECOND, THIRD, FIRST), 1):
        near = client.get(f"/api/v1/clusters/{of(key).pk}/neighbours/", {"search": "pain"}).json()
        around = {SECOND: (None, THIRD), THIRD: (SECOND, FIRST), FIRST: (THIRD, None)}[key]
        assert (near["number"], near["of"]) == (number, 3)
        assert (near["previous"], near["next"]) == tuple(name and of(name).pk for name in around)


def test_the_list_is_sorted_by_a_column_and_neighbours_follow_it(
    corpus: Project, lead: User, client_of: Client
) -> None:
    client = client_of(lead)
    Cluster.objects.filter(key=FIRST).update(key="26258610_10")
    tenth = "26258610_10"
    assert keys(client, ordering="key") == [SECOND, tenth, THIRD], "numbers in keys are compared as numbers"
    assert keys(client, ordering="-key") == [THIRD, tenth, SECOND]
    assert keys(client, ordering="review") == [tenth, SECOND, THIRD]
    inputs = {key: of(key).propositions.filter(position__gte=1).count() for key in (tenth, SECOND, THIRD)}
    assert keys(client, ordering="-inputs") == sorted(inputs, key=lambda key: -inputs[key])
    target = of(THIRD).propositions.get(position=0)
    Decision.objects.create(
        unit=target.unit, kind="label", field="polarity", origin=Origin.CONTESTED, decided_at=timezone.now()
    )
    assert keys(client, ordering="state")[0] == THIRD
    near = client.get(f"/api/v1/clusters/{of(THIRD).pk}/neighbours/", {"ordering": "-key"}).json()
    assert near == {"previous": None, "next": of(tenth).pk, "number": 1, "of": 3}
    for bad in ("search", "--key", "unit__project__name", "?"):
        assert client.get("/api/v1/projects/eye/clusters/", {"ordering": bad}).status_code == 422


def test_a_row_shows_a_match_of_whole_words_before_an_earlier_partial_one(
    corpus: Project, lead: User, client_of: Client
) -> None:
    for words, position in (("reduce", 1), ("reduces", 0), ("nepra", 0)):
        rows = client_of(lead).get("/api/v1/projects/eye/clusters/", {"search": words}).json()["results"]
        assert next(row["hit"]["position"] for row in rows if row["key"] == SECOND) == position


def test_a_row_has_the_polarities_of_its_inputs_and_the_states_that_find_it(
    corpus: Project, lead: User, stranger: User, client_of: Client
) -> None:
    build_finding(corpus, of(FIRST).unit_id)
    reopened = of(SECOND).propositions.get(position=1).unit
    Decision.objects.create(
        unit=reopened, kind="label", field="polarity", origin=Origin.REOPENED, decided_at=timezone.now()
    )
    path = "/api/v1/projects/eye/clusters/"
    rows = {row["key"]: row for row in client_of(lead).get(path).json()["results"]}
    assert rows[SECOND]["input_polarities"] == [None, "no effect"]
    assert all(row["inputs"] == len(row["input_polarities"]) for row in rows.values())
    for state in STATES:
        assert {key for key, row in rows.items() if state in row["states"]} == set(keys(client_of(lead), state=state))
    add_member(project=corpus, user=stranger, role="viewer", by=None)
    first = client_of(stranger).get(path).json()["results"][0]
    assert (first["key"], "findings" in rows[FIRST]["states"], first["states"]) == (FIRST, True, [])


@pytest.mark.parametrize("state", ["contested", "findings"])
def test_a_state_costs_the_same_queries_for_one_row_and_for_all(
    corpus: Project, lead: User, client_of: Client, state: str
) -> None:
    client = client_of(lead)

    def cost(rows: int) -> int:
        for cluster in Cluster.objects.order_by("position")[:rows]:
            build_finding(corpus, cluster.unit_id)
            Decision.objects.create(
                unit=cluster.unit,
                kind="discourse",
                field="relation",
                origin=Origin.CONTESTED,
                decided_at=timezone.now(),
            )
        with CaptureQueriesContext(connection) as queries:
            assert len(keys(client, state=state, search="a")) == rows
        Finding.objects.update(decision="dismissed", decision_reason="It is meant so.", decided_at=timezone.now())
        return len(queries)

    assert cost(1) == cost(3)


def marked(text: str, words: str) -> str:
    return "".join(f"<{p['text']}>" if p["hit"] else p["text"] for p in highlight(text, words))


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("Statin use and statins.", "statin", "<Statin> use and <statin>s."),
        ("u\u0308ber \u00c4pfel", "\u00fcber a\u0308pf", "<u\u0308ber \u00c4pf>el"),
        ("Stra\u00dfe", "strasse", "<Stra\u00dfe>"),
        ("nothing here", "statin", ""),
        ("x", "  ", ""),
    ],
)
def test_hits_are_marked_as_the_search_finds_them(text: str, words: str, shown: str) -> None:
    assert marked(text, words) == shown


def test_a_long_text_begins_a_little_before_its_first_hit_between_two_words() -> None:
    text = "word " * 40 + "statin at the end"
    said = marked(text, "statin")
    assert said.startswith("\u2026 word ")
    assert said.endswith("<statin> at the end")
    assert 60 <= said.index("<") <= 70
