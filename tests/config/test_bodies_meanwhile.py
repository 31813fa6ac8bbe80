"""What a request holds while its body is received. Needs real transactions, so it is apart from `test_bodies`."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from projects.models import Project
from tests.config.request_bodies import FILE, FORM, IMPORTS, TrackedBody, send
from tests.config.routes import client_of

pytestmark = pytest.mark.row(48)


@pytest.mark.django_db(transaction=True)
def test_while_a_file_is_received_its_connection_to_the_database_is_for_others(
    project: Project, lead: User, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    held: list[Any] = []
    client = client_of(lead)
    reply = send(client, IMPORTS, FORM, TrackedBody(FILE % b"{}", lambda: held.append(connection.connection)))
    assert (reply.status_code, held) == (422, [None])
