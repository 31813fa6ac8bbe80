"""``manage.py sign_in_link EMAIL``: print a sign-in link for a user without a password."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts.actions import make_sign_in_link
from accounts.models import User


class Command(BaseCommand):
    help = "Print a link that signs an existing user in once. Send it to this user only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="E-mail address of the user.")
        parser.add_argument("--hours", type=float, default=24, help="Hours until the link expires (default: 24).")
        default_address = next(iter(settings.CSRF_TRUSTED_ORIGINS), "http://localhost:8000")
        parser.add_argument(
            "--address", default=default_address, help="Address of this installation (default: %(default)s)."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 < options["hours"] <= 24 * 30:
            raise CommandError("--hours must be greater than 0 and at most 720.")
        user = User.objects.filter(email__iexact=options["email"].strip(), is_active=True).first()
        if user is None:
            raise CommandError(f"No active user has the e-mail address {options['email']}.")
        token = make_sign_in_link(user=user, hours=options["hours"])
        self.stdout.write(f"{options['address'].rstrip('/')}/enter#{token}")
