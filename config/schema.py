"""API schema generation: drf-spectacular with problem details."""

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

WRITES = {"POST", "PUT", "PATCH"}
DESCRIPTIONS = {
    "400": "Malformed request.",
    "401": "Not signed in, or the token is unknown, expired or revoked.",
    "403": "Not allowed for your role, or (type `/problems/csrf`) the page's security token has expired.",
    "404": "Not found, or no access.",
    "409": "Conflict with the current state. Nothing was changed.",
    "422": "A value is invalid; `errors` lists the fields.",
    "429": "Limit reached; retry after the time in `Retry-After`.",
    "503": "The database is not reachable; try again.",
}


class ProblemErrorSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    message = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """RFC 9457 problem details."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = ProblemErrorSerializer(many=True, required=False)  # type: ignore[assignment]


class Schema(AutoSchema):
    """Add the problem replies that every operation can return."""

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1/").split("/")[0] or "root"]

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        component = self.resolve_serializer(ProblemSerializer(), "response")
        for status in self._problem_statuses():
            bodies.setdefault(
                status,
                {
                    "content": {"application/problem+json": {"schema": component.ref}},
                    "description": DESCRIPTIONS[status],
                },
            )
        return bodies

    def _problem_statuses(self) -> list[str]:
        statuses = ["401", "503"]
        if "{" in self.path:
            statuses += ["403", "404"]
        if self.method in WRITES:
            statuses += ["400", "403", "409", "422", "429"]
        elif self.method == "DELETE":
            statuses += ["403", "409"]
        return sorted(set(statuses))
