"""Numbers that no data base can hold and reading at another address: said in words, never a failure."""

from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from tests.config.routes import API, client_of
from tests.config.world import World

pytestmark = pytest.mark.django_db


@pytest.mark.row(40)
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400])
def test_integers_of_more_than_64_bits_are_refused_wherever_they_stand(
    number: int, world: World, project: Project
) -> None:
    client = client_of(world.owner)
    slug = world.project.slug
    tries: list[tuple[str, str, Any]] = [
        ("put", f"answers/{world.answer.pk}/", world.submission() | {"have": [number]}),
        ("put", f"answers/{world.answer.pk}/", world.submission() | {"assignment": number}),
        ("post", f"projects/{slug}/rounds/preview/", {"people": [number]}),
        ("post", f"reviews/{world.cluster.review_id}/corrections/", {"rows": [{"unit": number}]}),
        ("patch", "me/", {"preferences": {"theme": [number]}}),
    ]
    for method, address, body in tries:
        reply = getattr(client, method)(f"/{API}{address}", body, format="json")
        assert reply.status_code == 400, address


@pytest.mark.row(40)
def test_such_integers_written_as_text_name_no_one(world: World, ann1: User) -> None:
    client, number = client_of(world.owner), str(10**30)
    plan = {"name": "x", "kind": "label", "purpose": "gold", "overlap": 1, "people": [number]}
    slug = world.project.slug
    for address, body in [
        (f"projects/{slug}/rounds/preview/", plan),
        (f"projects/{slug}/rounds/", plan),
        (f"projects/{slug}/elsewhere/import/", {"job": number, "name": "x", "purpose": "gold"}),
        (f"rounds/{world.round.pk}/sheet/", {"person": number}),
        (f"rounds/{world.round.pk}/sheet/import/", {"job": number}),
        (f"rounds/{world.round.pk}/people/", {"member": number}),
        (f"projects/{slug}/imports/confirm/", {"job": number}),
    ]:
        reply = client.post(f"/{API}{address}", body, format="json")
        assert reply.status_code in (404, 422), address
    reply = client.put(f"/{API}answers/{world.answer.pk}/", world.submission() | {"have": [number]}, format="json")
    assert reply.status_code == 422
