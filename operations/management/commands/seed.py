"""`manage.py seed`: the illustrative project, made where it is missing."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from api.problems import Problem
from operations.sample_project import seed


class Command(BaseCommand):
    help = "Make the illustrative project with its people and an open round; run again, it changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            seeded = seed()
        except Problem as problem:
            raise CommandError(problem.detail) from None
        for what in seeded.made:
            self.stdout.write(f"Made {what}.")
        if not seeded.made:
            self.stdout.write("The illustrative project is there already; nothing changes.")
