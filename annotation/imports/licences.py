"""Licences of imported sources: which licence a source has, and whether it allows to redistribute the texts."""

from typing import NamedTuple

from django.db import transaction

from accounts.models import User
from api.problems import Refused
from audit.log import changed_values, record
from measures import spdx
from projects.models import Import

from ..models import Search

#: Values by which people state whether texts may be redistributed.
ALLOWED, FORBIDDEN = REDISTRIBUTION = ("allowed", "forbidden")
#: Longest name of a licence.
LONGEST = 120


class Licence(NamedTuple):
    """Licence of a source. ``name``: an SPDX id, another name, or empty if unknown."""

    name: str = ""
    #: Whether the texts may be redistributed; None if unknown.
    may_redistribute: bool | None = None


def stated_licence(name: str, redistribution: str = "") -> Licence:
    """Return a licence with the id of SPDX's list.

    ``redistribution``: one of `REDISTRIBUTION`, or empty. Licences with an SPDX id then allow it; for others it is
    unknown. Raise `Refused` if it is allowed by an unknown licence.
    """
    may_redistribute = redistribution == ALLOWED if redistribution else None
    name = " ".join(name.split())
    if len(name) > LONGEST:
        raise Refused.field("licence", f"The name of a licence has at most {LONGEST} characters.")
    if not name and may_redistribute:
        raise Refused.field("licence", "Name the licence that allows redistribution.")
    if spdx_id := spdx.spdx_id(name):
        return Licence(spdx_id, True if may_redistribute is None else may_redistribute)
    return Licence(name, may_redistribute)


def redistribution_of(source: Import | Search) -> str:
    """Return one of `REDISTRIBUTION`, or empty if it is unknown."""
    if source.may_redistribute is None:
        return ""
    return ALLOWED if source.may_redistribute else FORBIDDEN


def state_licence(source: Import | Search, licence: Licence, *, by: User | None) -> None:
    """Store the licence of an import, or of the records of a search. Log the change, because releases state it."""
    values = {"licence": source.licence, "may_redistribute": source.may_redistribute}
    new = {"licence": licence.name, "may_redistribute": licence.may_redistribute}
    before, after = changed_values(values, new)
    if not after:
        return
    with transaction.atomic():
        type(source).objects.filter(pk=source.pk).update(**after)
        record(actor=by, verb="state licence", obj=source, project_id=source.project_id, before=before, after=after)
    for name, value in after.items():
        setattr(source, name, value)
