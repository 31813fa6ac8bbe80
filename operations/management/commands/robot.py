"""`manage.py robot`: an annotator that needs no coffee, for trials of a round and for load."""

import os
import sys
from dataclasses import replace
from getpass import getpass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from operations.robot.annotator import Annotator, Noise
from operations.robot.client import Client, GaveUp, NotDone
from operations.robot.labels import from_file, guess
from operations.robot.transport import Broken, Http


class Command(BaseCommand):
    help = (
        "Label a round as a robot, over HTTP. It signs in with the personal API token in the environment variable "
        "CONCORD_TOKEN, or else as --email with a password that is asked for. For trials and for load: its answers "
        "are answers, so let it into no round that forms gold."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="http://localhost:8000", help="where Concord is (default: %(default)s)")
        parser.add_argument("--email", help="sign in as this person; leave out with CONCORD_TOKEN")
        parser.add_argument("--round", type=int, required=True, metavar="ID", help="as in the address of its page")
        parser.add_argument("--truth", type=Path, metavar="FILE", help="labels in M3's level 3 form; else it guesses")
        parser.add_argument("--noise", type=float, default=0.0, help="how often it errs, 0 to 1 (default: 0)")
        parser.add_argument("--skip", type=float, default=0.0, help="how often it skips, 0 to 1 (default: 0)")
        parser.add_argument("--seed", type=int, default=1, help="another seed, other errors (default: 1)")
        parser.add_argument("--think", type=float, default=0.0, help="mean seconds before an answer (default: 0)")
        parser.add_argument("--limit", type=int, help="stop after so many answers")

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
                client, options["round"], truth=truth, noise=noise, seed=options["seed"],
                think=(0.5 * think, 1.5 * think),
            )  # fmt: skip
            done = annotator.work(limit=options["limit"])
        except (ValueError, OSError, Broken, GaveUp, NotDone) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{done} answers, {annotator.requests} requests.")

    def _sign_in(self, client: Client, email: str | None) -> None:
        if not email:
            raise CommandError("Say who you are: --email, or a personal API token in CONCORD_TOKEN.")
        password = getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        try:
            client.get("session/")  # sets the CSRF cookie
        except NotDone as refused:
            if refused.status != 401:
                raise
        client.post("session/", {"email": email, "password": password})
