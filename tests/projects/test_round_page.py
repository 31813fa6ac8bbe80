"""The page of a round: its counts are consistent, and remarks are shown in full."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from projects.models import Member, Project
from projects.queue.actions import next_assignments
from tests.builders import answer, build_cluster, build_round, skip

pytestmark = pytest.mark.django_db


def test_daily_counts_add_up_and_flags_comments_and_skips_are_listed(project: Project, lead: User, ann1: User) -> None:
    build_cluster(project)
    round = build_round(project, [Member.objects.get(user=ann1)])
    answer(ann1, next_assignments(user=ann1, round=round)[0], flag=True, comment="Which arm?")
    answer(ann1, next_assignments(user=ann1, round=round)[0])
    skip(ann1, next_assignments(user=ann1, round=round)[0])
    client = APIClient()
    client.force_login(lead)
    page = client.get(f"/api/v1/rounds/{round.pk}/progress/").json()
    assert page["answered"] == sum(day["answers"] for day in page["days"]) == 2
    skipped, raised = page["flagged"]
    assert (skipped["outcome"], skipped["reason"]) == ("skipped", "The text is unclear")
    assert (raised["flag"], raised["comment"]) == (True, "Which arm?")


def test_the_page_costs_the_same_queries_however_many_take_part(
    project: Project, lead: User, ann1: User, ann2: User, evaluator: User
) -> None:
    build_cluster(project)
    client, costs = APIClient(), []
    client.force_login(lead)
    for people in ([ann1], [ann1, ann2, evaluator]):
        round = build_round(project, [Member.objects.get(user=user) for user in people], name=f"of {len(people)}")
        with CaptureQueriesContext(connection) as seen:
            page = client.get(f"/api/v1/rounds/{round.pk}/progress/").json()
        assert len(page["people"]) == len(people)
        costs.append(len(seen))
    assert costs[0] == costs[1]
