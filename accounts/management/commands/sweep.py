"""``manage.py sweep``: delete rows that nobody needs any more. Workers do it once a day by themselves."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts.sweeping import sweep


class Command(BaseCommand):
    help = "Delete spent sign-in links, ended sessions and failed tries that count no longer; say how many."

    def handle(self, *args: Any, **options: Any) -> None:
        for name, number in sweep().items():
            self.stdout.write(f"{name}: {number}")
