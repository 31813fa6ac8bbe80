"""``manage.py forget_provider EMAIL``: let another person of the identity provider have an account."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.models import ProviderIdentity, User
from audit.log import record


class Command(BaseCommand):
    help = (
        "Forget which person of the identity provider an account belongs to: whoever signs in there next with its "
        "address has it from then on. For a provider that has given everybody new identifiers, take --all."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", nargs="?", help="the account's e-mail address")
        parser.add_argument("--all", action="store_true", help="of every account")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["email"]) == options["all"]:
            raise CommandError("Name one address, or --all.")
        found = ProviderIdentity.objects.select_related("user")
        if options["email"]:
            user = User.objects.filter(email__iexact=options["email"].strip()).first()
            if user is None:
                raise CommandError(f"There is no user with the address {options['email']}.")
            found = found.filter(user=user)
        with transaction.atomic():
            for identity in found:
                record(actor=None, verb="forget provider", obj=identity.user)
                identity.delete()
        self.stdout.write(f"forgotten: {len(found)}")
