"""``manage.py sweep``: delete expired rows. Workers do this automatically once a day."""

from typing import Any

from django.core.management.base import BaseCommand

from ...sessions import sweep


class Command(BaseCommand):
    help = "Delete expired sign-in links, sessions and failed attempts, and print how many."

    def handle(self, *args: Any, **options: Any) -> None:
        for name, number in sweep().items():
            self.stdout.write(f"{name}: {number}")
