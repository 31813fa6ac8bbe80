"""Command that creates the missing parts of the sample project."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from api.problems import Problem
from operations.sample_project import seed


class Command(BaseCommand):
    help = "Create the sample project with its users and an open round. Has no effect if it already exists."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            seeded = seed()
        except Problem as problem:
            raise CommandError(problem.detail) from None
        for what in seeded.made:
            self.stdout.write(f"Created {what}.")
        if not seeded.made:
            self.stdout.write("The sample project already exists; nothing was changed.")
