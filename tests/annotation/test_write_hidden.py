"""Nobody but leads reads what another person writes, by any page, list, search or notification."""

from collections.abc import Callable

import pytest
from django.core import mail
from rest_framework.test import APIClient

from accounts.models import User
from projects.gold.actions import finish_round
from projects.models import Member, Project, Role
from projects.rounds.actions import close_round
from projects.stored_figures.actions import compute_and_store
from tests.annotation.test_write import PRIMARY, open_writing, people, write

__all__ = ["PRIMARY", "people"]
pytestmark = pytest.mark.django_db
SECRET = "unheard-of wording"


def addresses(project: Project, round: int, unit: int) -> list[str]:
    base, of_round = f"/api/v1/projects/{project.slug}", f"/api/v1/rounds/{round}"
    return [
        f"{of_round}/next/",
        f"{of_round}/recent/",
        f"{of_round}/",
        f"{of_round}/agreement/",
        f"{of_round}/adjudication/",
        f"{of_round}/adjudication/{unit}/",
        f"{of_round}/outcomes/",
        f"{of_round}/replies/",
        f"{of_round}/progress/",
        "/api/v1/notifications/",
        "/api/v1/my-work/",
        f"{base}/materials/written_summaries/",
        f"{base}/materials/written_summaries/?search=unheard",
        f"{base}/materials/questions/",
        f"{base}/search/?search=unheard",
        f"{base}/inbox/",
        f"{base}/overview/",
        f"{base}/audit/",
        f"{base}/rounds/",
        f"{base}/tables/writers/",
        f"{base}/writers/",
    ]


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.CURATOR, Role.VIEWER, Role.EVALUATOR])
def test_only_leads_read_texts_of_others(
    project: Project,
    people: list[Member],
    lead: User,
    client_of: Callable[[User], APIClient],
    role: Role,
    is_closed: bool,
) -> None:
    round = open_writing(project, people)
    write(round, people[0], words=SECRET)
    write(round, people[1], words="something else")
    if is_closed:
        close_round(round=round, by=lead)
        finish_round(round=round, by=lead)
        compute_and_store(project=project)
    Member.objects.filter(pk=people[1].pk).update(role=role)
    unit = round.assignments.order_by("pk")[0].unit_id
    read = client_of(people[1].user)
    seen = [a for a in addresses(project, round.pk, unit) if SECRET in read.get(a).content.decode()]
    assert seen == []
    assert not [message for message in mail.outbox if SECRET in str(message.body)]
    of_lead = client_of(lead).get(f"/api/v1/rounds/{round.pk}/agreement/")
    assert SECRET in of_lead.content.decode()
    if is_closed:
        listed = client_of(lead).get(f"/api/v1/projects/{project.slug}/materials/written_summaries/?search=unheard")
        assert SECRET in listed.content.decode()
        assert SECRET in client_of(lead).get(f"/api/v1/projects/{project.slug}/writers/").content.decode()
