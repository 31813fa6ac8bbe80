"""The endpoints that a project can use."""

from typing import Any

from projects.models import Project

from ..endpoints import Endpoint
from ..models import ProjectEndpoint
from .access import administrators, stored


def rows(project: Project) -> list[dict[str, Any]]:
    """Return the endpoints of the administrator, and those of the project, without keys."""
    return [
        *(_row(endpoint) for endpoint in administrators().values()),
        *(row_of(row) for row in ProjectEndpoint.objects.current().filter(project=project)),
    ]


def row_of(row: ProjectEndpoint) -> dict[str, Any]:
    return _row(stored(row)) | {
        "id": row.pk,
        "models": row.model_names,
        "has_key": bool(row.encrypted_key),
        "price_in": row.price_in,
        "price_out": row.price_out,
        "currency": row.currency,
        "created_at": row.created_at,
    }


def _row(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "id": None,
        "name": endpoint.name,
        "url": endpoint.url,
        "host": endpoint.host,
        "is_outside": endpoint.is_outside,
        "models": [],
        "has_key": bool(endpoint.key_variable),
        "price_in": None,
        "price_out": None,
        "currency": "",
        "created_at": None,
    }


def endpoint_named(project: Project, name: str) -> tuple[Endpoint, ProjectEndpoint | None] | None:
    """Return the endpoint with a name, and its row if it is the project's; None if there is none."""
    if endpoint := administrators().get(name):
        return endpoint, None
    row = ProjectEndpoint.objects.current().filter(project=project, name=name).first()
    return (stored(row), row) if row else None
