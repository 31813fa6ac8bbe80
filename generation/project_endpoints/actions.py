"""Add and remove endpoints of a project."""

import re
from collections.abc import Sequence
from decimal import Decimal

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from accounts.tokens import encrypt
from api.outgoing.addresses import NotAllowed, Unresolved, checked_addresses
from api.problems import Conflict, Refused
from audit.log import record
from projects.models import Project

from ..endpoints import Endpoint
from ..models import ProjectEndpoint
from .access import PURPOSE, administrators

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def add_endpoint(
    *,
    project: Project,
    name: str,
    url: str,
    key: str = "",
    models: Sequence[str] = (),
    price_in: Decimal | None = None,
    price_out: Decimal | None = None,
    currency: str = "",
    by: User | None,
) -> ProjectEndpoint:
    """Add an endpoint. Raise `Refused` if a field is invalid or the address is not allowed.

    The address is resolved now, to report an error early, and checked again with every connection. The key is
    encrypted, and no message contains it.
    """
    if not _NAME.fullmatch(name):
        raise Refused.field("name", "Use up to 40 letters, digits, '.', '_' and '-', beginning with a letter or digit.")
    if name in administrators():
        raise Refused.field("name", "The administrator has an endpoint with this name.")
    if re.search(r"[^\x21-\x7e]", key):
        raise Refused.field("key", "A key has printable ASCII characters only, without spaces.")
    if (price_in is None) != (price_out is None):
        raise Refused.field("price_out", "Give both prices or none.")
    if (price_in is not None) != bool(currency):
        raise Refused.field("currency", "Give the prices together with their currency, such as EUR.")
    _check_url(name, url, with_key=bool(key))
    try:
        with transaction.atomic():
            endpoint = ProjectEndpoint.objects.create(
                project=project,
                name=name,
                url=url,
                encrypted_key=encrypt(key, purpose=PURPOSE),
                model_names=list(models),
                price_in=price_in,
                price_out=price_out,
                currency=currency,
                created_by=by,
            )
            record(actor=by, verb="add endpoint", obj=endpoint, project_id=project.pk, after={"name": name, "url": url})
    except IntegrityError as error:
        raise Refused.field("name", f"This project already has an endpoint named {name!r}.") from error
    return endpoint


def _check_url(name: str, url: str, *, with_key: bool) -> None:
    try:
        endpoint = Endpoint(name, url)
    except ValueError as error:
        reason = str(error).rpartition(": ")[2]
        raise Refused.field("url", f"{reason[:1].upper()}{reason[1:]}.") from None
    if endpoint.is_outside and not endpoint.secure:
        reason = "the key and the texts" if with_key else "the texts"
        raise Refused.field("url", f"Use https://, because others could read {reason} on the way.")
    try:
        checked_addresses(
            endpoint.host,
            endpoint.port,
            settings.GENERATION_NETWORKS,
            setting="GENERATION_NETWORKS",
            by_administrator=False,
        )
    except (NotAllowed, Unresolved) as error:
        raise Refused.field("url", str(error)) from None


def remove_endpoint(*, endpoint: ProjectEndpoint, by: User | None) -> None:
    """Remove an endpoint and delete its key. Judges that used it keep its name and URL."""
    with transaction.atomic():
        current = ProjectEndpoint.objects.current().filter(pk=endpoint.pk)
        if not current.update(removed_at=timezone.now(), removed_by=by, encrypted_key=""):
            raise Conflict("This endpoint is already removed.")
        record(
            actor=by,
            verb="remove endpoint",
            obj=endpoint,
            project_id=endpoint.project_id,
            before={"name": endpoint.name, "url": endpoint.url},
        )
