"""What commands are told of by name: a project, a person. What there is not is refused in one line."""

from django.core.management.base import CommandError

from accounts.models import User

from ..models import Project

#: Projects that a refusal names.
NAMED = 10


def project_of(slug: str) -> Project:
    """The project of that short name; `CommandError` names those that there are."""
    found = Project.objects.filter(slug=slug).first()
    if found is None:
        there = list(Project.objects.order_by("slug").values_list("slug", flat=True)[: NAMED + 1])
        known = ", ".join(there[:NAMED]) + (" ..." if len(there) > NAMED else "")
        raise CommandError(f"There is no project {slug!r}; there are: {known or 'none'}.")
    return found


def user_of(email: str) -> User:
    """The person with that address, in whatever case."""
    found = User.objects.filter(email__iexact=email).first()
    if found is None:
        raise CommandError(f"There is no user {email!r}.")
    return found
