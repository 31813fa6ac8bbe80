"""The agreement page: a sentence to cite, and the contested units with text and links."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from projects.agreement.queries import citation
from projects.jobs.queries import claim_next
from projects.jobs.running import run_job
from projects.models import Member, Project, Round
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]


def of_two(project: Project, ann1: User, ann2: User, apart: int) -> Round:
    """Two people answer every unit of three reviews and differ in the first ``apart`` units."""
    if not project.clusters.exists():
        for number in range(3):
            build_cluster(project, number, inputs=3)
    people = [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]
    round = build_round(project, people, overlap=2, name=f"{apart} apart")
    for user in (ann1, ann2):
        for n in range(12):
            said = "negative" if user == ann2 and n < apart else "positive"
            answer(user, next_assignments(user=user, round=round)[0], label_value(said))
    return round


def closed(round: Round, by: User) -> Round:
    close_round(round=round, by=by)
    while (pk := claim_next()) is not None:
        run_job(pk)
    return Round.objects.get(pk=round.pk)


def polarity(client: APIClient, round: Round) -> Any:
    return client.get(f"/api/v1/rounds/{round.pk}/agreement/").json()["measures"][0]


def test_a_contested_unit_has_its_text_and_says_whether_it_waits_for_adjudication(
    project: Project, lead: User, ann1: User, ann2: User, client_of: Client
) -> None:
    round = of_two(project, ann1, ann2, apart=2)
    before = polarity(client_of(lead), round)["contested"]
    assert len(before) == 2
    assert all(row["text"] and row["unit"] and not row["waits"] for row in before), "it is open: nobody adjudicates yet"
    after = polarity(client_of(lead), closed(round, lead))["contested"]
    assert [row["waits"] for row in after] == [True, True]


def test_contested_units_cost_the_same_queries_however_many(
    project: Project, lead: User, ann1: User, ann2: User, client_of: Client
) -> None:
    round = of_two(project, ann1, ann2, apart=1)
    client = client_of(lead)
    with CaptureQueriesContext(connection) as one:
        assert len(polarity(client, round)["contested"]) == 1
    more = of_two(project, ann1, ann2, apart=7)
    with CaptureQueriesContext(connection) as seven:
        assert len(polarity(client, more)["contested"]) == 7
    assert len(seven) == len(one)


MEASURE: dict[str, Any] = {
    "name": "polarity",
    "weights": "identity",
    "level": 0.95,
    "units": 40,
    "reviews": 12,
    "raters": 3,
    "ratings": 119,
    "all_agree": {"count": 31, "of": 40},
    "undefined": {},
    "interval_method": "jackknife over reviews",
    "cite": "reviews",
    "coefficients": {
        "percent_agreement": {"value": 0.85},
        "ac1": {"value": 0.8132, "ci": [0.61, 0.94], "ci_reason": None, "method": "Gwet SE"},
    },
}


def test_the_sentence_to_cite_has_measure_coefficient_interval_n_raters_and_method() -> None:
    said = citation(MEASURE)
    assert said["text"] == (
        "Agreement on polarity was Gwet's AC1 = 0.81 (95% CI 0.61 to 0.94 over 12 reviews; jackknife over reviews), "
        "from 119 ratings of 40 units by 3 raters; all agreed on 31 of 40 units, mean pairwise agreement 0.85."
    )
    assert r"(95\% CI 0.61 to 0.94" in said["latex"]


def test_a_withheld_interval_is_cited_with_its_reason() -> None:
    why = "no reliable interval (rare category; n = 12 reviews)"
    ac1 = MEASURE["coefficients"]["ac1"] | {"ci": None, "ci_reason": why}
    assert f"= 0.81, {why}, from" in citation(MEASURE | {"coefficients": {"ac1": ac1}})["text"]


def test_undefined_figures_have_a_reason_and_empty_measures_no_citation() -> None:
    none = MEASURE | {"coefficients": {}, "undefined": {"ac1": "one rater"}}
    assert citation(none)["text"].endswith("is not defined (119 ratings of 40 units by 3 raters): one rater.")
    assert citation(MEASURE | {"ratings": 0}) == {"text": "", "latex": ""}
