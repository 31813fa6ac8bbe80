"""How the API describes itself: drf-spectacular, with the problem details that it leaves out."""

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

WRITES = {"POST", "PUT", "PATCH"}
DESCRIPTIONS = {
    "400": "The request cannot be read.",
    "401": "Not signed in, or the token is unknown, expired or revoked.",
    "403": "Your role does not allow this, or (type `/problems/csrf`) the page's token is old.",
    "404": "Absent, or hidden from you: the two look alike.",
    "409": "The state has moved on; nothing was changed or deleted.",
    "422": "A value breaks a rule: `errors` names the fields.",
    "429": "Too many tries; wait as `Retry-After` says.",
    "503": "The data base cannot be reached just now; try again.",
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
    """Adds the problems that every operation can answer with."""

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
