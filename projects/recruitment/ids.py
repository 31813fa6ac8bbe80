"""External ids: how they are read from the parameters of a link's address, and how a person is found by them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.crypto import salted_hmac

from api.problems import Refused

from ..models import ExternalId, Recruitment

Platform = Recruitment.Platform
#: Names of the parameters that a platform adds to the address.
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    Platform.PROLIFIC: {"id": "PROLIFIC_PID", "study": "STUDY_ID", "session": "SESSION_ID"},
    Platform.MTURK: {"id": "workerId", "study": "hitId", "session": "assignmentId"},
    Platform.OTHER: {"id": "participant", "study": "", "session": ""},
}
#: What MTurk sends while a worker looks at a task without having accepted it.
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
LONGEST = 100
_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+=-]*", re.ASCII)
_WORDS = {"id": "participant id", "study": "study id", "session": "session id"}


@dataclass(frozen=True)
class Ids:
    id: str
    study: str = ""
    session: str = ""


def is_preview(recruitment: Recruitment, query: Mapping[str, str]) -> bool:
    """Return whether the address is that of a preview, before the person accepted the task on the platform."""
    return PREVIEW in (query.get(name) for name in recruitment.parameters.values() if name)


def read_ids(recruitment: Recruitment, query: Mapping[str, str]) -> Ids | None:
    """Return the ids in the parameters of an address, or None without a participant id. Raise `Refused`."""
    found = {}
    for what, name in recruitment.parameters.items():
        value = query.get(name, "").strip() if name else ""
        if value and not (_VALID.fullmatch(value) and len(value) <= LONGEST):
            raise Refused.field(
                f"query.{name}",
                f"The {_WORDS[what]} in the address ({name}) is invalid: use at most {LONGEST} letters, digits and "
                "the characters . _ : @ + = -. Open the study from the platform again.",
            )
        found[what] = value
    return Ids(**found) if found["id"] else None


def missing(recruitment: Recruitment) -> str:
    name = recruitment.parameters["id"]
    return f"The address has no participant id ({name}). Open the study from the platform that invited you."


def digest_of(recruitment: Recruitment, external_id: str) -> str:
    """Return a keyed hash of an external id. Without the server's secret key nobody can compute it."""
    salt = f"projects.recruitment:{recruitment.link.round_id}"
    return salted_hmac(salt, external_id, algorithm="sha256").hexdigest()


def find(recruitment: Recruitment, ids: Ids) -> ExternalId | None:
    """Return the row of the person with this id in the round, by any of its links."""
    rows = ExternalId.objects.select_related("recruit__recruitment", "recruit__link__member__user")
    return rows.filter(round=recruitment.link.round_id, digest=digest_of(recruitment, ids.id)).first()
