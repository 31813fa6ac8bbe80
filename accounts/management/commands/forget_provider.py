"""``manage.py forget_provider EMAIL``: unlink an account from its identity at the provider."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.models import ProviderIdentity, User
from audit.log import record


class Command(BaseCommand):
    help = (
        "Unlink an account from its identity at the provider. The next person who signs in there with the account's "
        "address is linked to it. Use --all if the provider has changed the identifiers of all users."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", nargs="?", help="E-mail address of the account.")
        parser.add_argument("--all", action="store_true", help="Unlink all accounts.")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["email"]) == options["all"]:
            raise CommandError("Give either an e-mail address or --all.")
        identities = ProviderIdentity.objects.select_related("user")
        if options["email"]:
            user = User.objects.filter(email__iexact=options["email"].strip()).first()
            if user is None:
                raise CommandError(f"No user has the e-mail address {options['email']}.")
            identities = identities.filter(user=user)
        with transaction.atomic():
            for identity in identities:
                record(actor=None, verb="forget provider", obj=identity.user)
                identity.delete()
        self.stdout.write(f"Identities unlinked: {len(identities)}")
