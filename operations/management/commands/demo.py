"""Command that runs all of Concord on one machine, starting from an empty folder, with the sample project."""

import os
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from accounts.actions import make_sign_in_link
from api.problems import Problem
from config.secret_key import kept_secret_key
from config.spa import manifest
from operations.sample_project import PEOPLE, SAMPLE, Seeded, seed
from operations.simulation.history import play_history
from operations.simulation.labels import from_file
from operations.simulation.ratings import play_ratings
from operations.supervisor import Child, GaveUp, Supervisor

#: Number of further ports to try if a port is taken.
PORTS_TRIED = 50
EVERY_ADDRESS = {"0.0.0.0", "::", ""}


class Command(BaseCommand):
    help = (
        "Migrate, create the sample project, start and supervise the web server and a worker, "
        "and print the address with one-time sign-in links. Stop with Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="Address to listen on (default: 127.0.0.1).")
        parser.add_argument(
            "--port", type=int, default=8000, help="Port to listen on. If it is in use, the next free port is used."
        )

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        if not 1 <= port <= 65535:
            raise CommandError("--port must be from 1 to 65535.")
        free = free_port(host, port)
        if free != port:
            self.stdout.write(f"Port {port} is in use; using port {free} instead.")
        if manifest() is None:
            self.stdout.write("The pages are not built, so only the API works. Build them with: manage.py frontend")
        call_command("migrate", verbosity=0, interactive=False, stdout=self.stdout)
        try:
            seeded = seed()
        except Problem as problem:
            raise CommandError(problem.detail) from None
        if play_history(seeded.project, truth=from_file(SAMPLE)):
            self.stdout.write("Three simulated annotators have labelled a sample, so that agreement can be shown.")
        if play_ratings(seeded.project):
            self.stdout.write(
                "They have also rated the summaries of four systems, and a rating round is open for the evaluator."
            )
        address = f"http://{url_host(host)}:{free}"
        links = sign_in_links(seeded, address)
        connections.close_all()  # the children have their own connections; this process only supervises from here on

        supervisor = Supervisor(children(host, free), say=self._say)
        try:
            supervisor.run(
                is_ready=lambda: answers(f"{address}/readyz"), when_ready=lambda: self._welcome(address, links)
            )
        except GaveUp as error:
            raise CommandError(str(error)) from None

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _welcome(self, address: str, links: list[tuple[str, str]]) -> None:
        lines = [
            "",
            f"Concord is ready: {address}",
            "The sample project is fictitious. Sign in with one of these links; each works once within 24 hours:",
            *(f"  {name:<30} {link}" for name, link in links),
            f"For another link: .venv/bin/python manage.py sign_in_link {PEOPLE[0].email} --address {address}",
            "Stop with Ctrl-C.",
            "",
        ]
        self._say("\n".join(lines))


def sign_in_links(seeded: Seeded, address: str) -> list[tuple[str, str]]:
    """Return (name, link) for the people of the sample project."""
    return [
        (f"{user.name} ({person.role.value})", f"{address}/enter#{make_sign_in_link(user=user)}")
        for person, user in zip(PEOPLE, seeded.people, strict=True)
        if user.is_active
    ]


def children(host: str, port: int) -> list[Child]:
    """Return the web server and the worker, with production settings and the key of this data folder."""
    # The settings have loaded .env into the environment, so a key from there is found, too.
    key = os.environ.get("SECRET_KEY") or kept_secret_key(Path(settings.DATA_DIR))
    environment = {
        "LOG_LEVEL": "WARNING",  # quiet by default, so that the links stay visible
        **os.environ,
        "DEBUG": "0",
        "SECRET_KEY": key,
        "DATA_DIR": str(settings.DATA_DIR),
        "ALLOWED_HOSTS": os.environ.get("ALLOWED_HOSTS") or ",".join(hosts(host)),
        "HTTPS": "0",  # the demo has no TLS, so a redirect to HTTPS would fail
        "PYTHONUNBUFFERED": "1",
    }
    web = [
        sys.executable,
        "-m",
        "gunicorn",
        "--config",
        "python:config.gunicorn",
        "config.wsgi:application",
        "--bind",
        f"{bracketed(host)}:{port}",
        "--graceful-timeout",
        "8",
        "--log-level",
        "warning",
    ]
    work = [sys.executable, "manage.py", "work"]
    root = Path(settings.ROOT)
    return [
        Child("web", web, environment=environment, folder=root),
        Child("worker", work, environment=environment, folder=root),
    ]


def hosts(host: str) -> list[str]:
    """Return the host names that the server accepts."""
    names = ["localhost", "127.0.0.1", "[::1]"]
    own = socket.gethostname().lower() if host in EVERY_ADDRESS else bracketed(host)
    return [*names, own] if own not in names else names


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def url_host(host: str) -> str:
    """Return the host as typed on this machine."""
    return "127.0.0.1" if host in EVERY_ADDRESS else bracketed(host)


def free_port(host: str, port: int) -> int:
    """Return the first free port from ``port``. Raise `CommandError` if there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = min(port + PORTS_TRIED, 65535)
    reason = ""
    for candidate in range(port, last + 1):
        with socket.socket(family) as probe:
            # Like the server, accept a port whose last connections are in TIME_WAIT.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                reason = error.strerror or str(error)
                continue
            return candidate
    raise CommandError(f"No port from {port} to {last} is available on {host}: {reason}.")


def answers(url: str) -> bool:
    """Whether the page returns status 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False
