"""`python -m tests.processes.database_commands NAME JSON`: create and read rows of a running site."""

import json
import sys
from datetime import timedelta
from typing import Any

import django


def make_lead(email: str) -> str:
    """Create a user and return an API token."""
    from accounts.actions import make_token
    from accounts.models import User

    return make_token(user=User.objects.create_user(email=email, name="Lead"), name="test")[1]


def make_user(email: str, password: str, is_active: bool = True) -> int:
    from accounts.models import User

    return User.objects.create_user(email=email, name="Somebody", password=password, is_active=is_active).pk


def make_invitation(email: str, by: str) -> int:
    from accounts.models import User
    from projects.models import Project
    from projects.people.invitations import invite

    project = Project.objects.create(slug="eye", name="Eye")
    return invite(project=project, email=email, role="annotator", by=User.objects.get(email=by))[0].pk


def people() -> list[dict[str, Any]]:
    from accounts.models import User

    return [
        {
            "email": user.email,
            "name": user.name,
            "password": user.has_usable_password(),
            "projects": user.memberships.count(),
        }
        for user in User.objects.order_by("pk")
    ]


def wait_out(minutes: int) -> int:
    """Make all failed sign-ins older and return their number."""
    from axes.models import AccessAttempt
    from django.db.models import F

    from accounts.models import Failure

    ago = timedelta(minutes=minutes)
    Failure.objects.update(at=F("at") - ago)
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - ago)
    return Failure.objects.count()


def enqueue(kind: str, params: dict[str, Any], by: str, queue: str = "default") -> int:
    from accounts.models import User
    from projects.jobs import jobs

    return jobs.enqueue(project=None, kind=kind, params=params, by=User.objects.get(email=by), queue=queue).pk


def imported_rows(slug: str) -> dict[str, tuple[int, str]]:
    """Return the number and the digest of each type of row that imports created in a project."""
    from hashlib import sha256

    from projects.models import Project
    from tests.annotation.test_interrupted_imports import rows

    found = rows(Project.objects.get(slug=slug))
    return {name: (len(each), sha256(json.dumps(each).encode()).hexdigest()) for name, each in found.items()}


def count_imported() -> dict[str, int]:
    """Return the number of rows of each model, except those that logs and jobs add."""
    from tests.annotation.test_interrupted_imports import count_all

    return count_all()


def answers() -> list[dict[str, Any]]:
    from projects.models import Answer

    rows = Answer.objects.order_by("received_at").values(
        "uuid",
        "body_digest",
        "assignment",
        "assignment__number",
        "assignment__unit",
        "assignment__round",
        "revision",
        "author",
        "label__polarity",
    )
    return [{**row, "uuid": str(row["uuid"])} for row in rows]


def slots(round: int) -> list[dict[str, Any]]:
    from projects.models import Assignment

    rows = Assignment.objects.filter(round=round, number__gte=1).values(
        "unit", "number", "person", "revision", "current_answer"
    )
    return [{**row, "current_answer": row["current_answer"] and str(row["current_answer"])} for row in rows]


def job(pk: int) -> dict[str, Any]:
    from projects.models import Job

    found = Job.objects.get(pk=pk)
    return {"status": found.status, "attempts": found.attempts, "fence": found.fence, "sent": found.sent_at is not None}


def decisions() -> dict[str, int]:
    """Return the number of decisions of rounds, and of distinct decided fields."""
    from projects.models import Decision

    formed = Decision.objects.filter(round__isnull=False)
    return {"decisions": formed.count(), "fields": formed.values("unit", "kind", "field").distinct().count()}


def main() -> None:
    django.setup()
    people_verbs = (make_lead, make_user, make_invitation, people, wait_out)
    row_verbs = (enqueue, imported_rows, count_imported, answers, slots, job, decisions)
    verb = {f.__name__: f for f in (*people_verbs, *row_verbs)}[sys.argv[1]]
    json.dump(verb(**json.loads(sys.argv[2])), sys.stdout)


if __name__ == "__main__":
    main()
