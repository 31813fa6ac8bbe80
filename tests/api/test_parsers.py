"""Small request bodies that would expand are refused first."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from api import parsers
from projects.models import Project

pytestmark = [pytest.mark.django_db, pytest.mark.row(28)]
Client = Callable[[User], APIClient]
GUIDELINES = "/api/v1/projects/eye/guidelines/"


@pytest.mark.parametrize("value", ["[]", "{}", "1", '"a"'])
def test_a_body_of_values_without_end_is_refused(project: Project, lead: User, client_of: Client, value: str) -> None:
    many = ",".join([value] * (2_400_000 // (len(value) + 1)))
    reply = client_of(lead).post(GUIDELINES, f'{{"kind": [{many}]}}', content_type="application/json")
    assert reply.status_code == 400
    assert reply.json()["detail"] == f"JSON parse error - more than {parsers.MOST_VALUES:,} values."


def test_a_long_text_has_as_many_commas_as_people_write(project: Project, lead: User, client_of: Client) -> None:
    body = {"kind": "label", "text": "no, none, and not; " * 2_600}
    assert client_of(lead).post(GUIDELINES, body, format="json").status_code == 201
