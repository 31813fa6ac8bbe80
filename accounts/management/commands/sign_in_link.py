"""``manage.py sign_in_link EMAIL``: a way in for somebody who has no password, or forgot it."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts.actions import make_sign_in_link
from accounts.models import User


class Command(BaseCommand):
    help = "Print a link that signs an existing user in, once. Give it to nobody else."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the user's e-mail address")
        parser.add_argument("--hours", type=float, default=24, help="how long it is valid (default: 24)")
        named = next(iter(settings.CSRF_TRUSTED_ORIGINS), "http://localhost:8000")
        parser.add_argument("--address", default=named, help="where this Concord is reached (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 < options["hours"] <= 24 * 30:
            raise CommandError("--hours must be above 0 and at most 720.")
        user = User.objects.filter(email__iexact=options["email"].strip(), is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user with the address {options['email']}.")
        token = make_sign_in_link(user=user, hours=options["hours"])
        self.stdout.write(f"{options['address'].rstrip('/')}/enter#{token}")
