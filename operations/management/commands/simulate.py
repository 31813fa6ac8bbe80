"""Command that runs a simulated annotator, to try out a round or to create load."""

import os
import sys
from dataclasses import replace
from getpass import getpass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from operations.simulation.annotator import Annotator, Noise
from operations.simulation.client import Client, GaveUp, NotDone
from operations.simulation.labels import from_file, guess
from operations.simulation.transport import Broken, Http


class Command(BaseCommand):
    help = (
        "Label a round as a simulated annotator, over HTTP. Uses the personal API token in the "
        "environment variable CONCORD_TOKEN, or else --email and a password prompt. For tests "
        "and load tests only: its answers count, so do not use it in rounds that form gold."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--url", default="http://localhost:8000", help="Address of the Concord server (default: %(default)s)."
        )
        parser.add_argument("--email", help="Sign in as this user. Omit it if CONCORD_TOKEN is set.")
        parser.add_argument(
            "--round", type=int, required=True, metavar="ID", help="Id of the round, as in the URL of its page."
        )
        parser.add_argument(
            "--truth",
            type=Path,
            metavar="FILE",
            help="File with correct labels in M3's level 3 format. Without it, the simulated annotator guesses.",
        )
        parser.add_argument("--noise", type=float, default=0.0, help="Probability of an error, 0 to 1 (default: 0).")
        parser.add_argument("--skip", type=float, default=0.0, help="Probability of a skip, 0 to 1 (default: 0).")
        parser.add_argument("--seed", type=int, default=1, help="Random seed of the errors (default: 1).")
        parser.add_argument(
            "--think", type=float, default=0.0, help="Mean number of seconds before an answer (default: 0)."
        )
        parser.add_argument("--limit", type=int, help="Stop after this number of answers.")

    def handle(self, *args: Any, **options: Any) -> None:
        think = options["think"]
        if think < 0:
            raise CommandError("--think must not be negative.")
        try:
            noise = replace(Noise.of(options["noise"]), skip=options["skip"])
            truth = from_file(options["truth"]) if options["truth"] else guess
            client = Client(Http(options["url"]), token=os.environ.get("CONCORD_TOKEN", ""))
            if not client.token:
                self._sign_in(client, options["email"])
            annotator = Annotator(
                client,
                options["round"],
                truth=truth,
                noise=noise,
                seed=options["seed"],
                think=(0.5 * think, 1.5 * think),
            )
            done = annotator.work(limit=options["limit"])
        except (ValueError, OSError, Broken, GaveUp, NotDone) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{done} answers, {annotator.requests} requests.")

    def _sign_in(self, client: Client, email: str | None) -> None:
        if not email:
            raise CommandError("Give --email, or a personal API token in CONCORD_TOKEN.")
        password = getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        try:
            client.get("session/")  # sets the CSRF cookie
        except NotDone as refused:
            if refused.status != 401:
                raise
        client.post("session/", {"email": email, "password": password})
