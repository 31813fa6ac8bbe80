"""Whether the licences of the texts of units allow to send them to another server."""

from collections.abc import Sequence

from projects.models import Unit


def redistribution_of(project: int, units: Sequence[int]) -> dict[int, bool | None]:
    """Return False for a unit whose import forbids it, else None: a person must say why the texts may be sent."""
    rows = Unit.objects.filter(project=project, pk__in=units).values_list("pk", "imported__may_redistribute")
    return {pk: None if allowed is None or allowed else False for pk, allowed in rows}
