"""Arguments and output that commands have in common."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from accounts.models import User

from ..models import Project

#: Maximum number of projects in an error message.
MAX_LISTED = 10


def project_of(slug: str) -> Project:
    """Return the project with this slug. Raise `CommandError` with a list of projects if there is none."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        slugs = list(Project.objects.order_by("slug").values_list("slug", flat=True)[: MAX_LISTED + 1])
        known = ", ".join(slugs[:MAX_LISTED]) + (" ..." if len(slugs) > MAX_LISTED else "")
        raise CommandError(f"Unknown project {slug!r}. Projects: {known or 'none'}.")
    return project


def user_of(email: str) -> User:
    """Return the user with this e-mail address, ignoring case. Raise `CommandError` if there is none."""
    user = User.objects.filter(email__iexact=email).first()
    if user is None:
        raise CommandError(f"No user has the e-mail address {email!r}.")
    return user


def add_format(parser: ArgumentParser) -> None:
    """Add ``--format`` to a command that prints a table."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: for other programs")


def write_json(out: OutputWrapper, value: Any) -> None:
    out.write(json.dumps(value, ensure_ascii=False, indent=2, default=str))
