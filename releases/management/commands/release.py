"""`manage.py release`: freeze a project and write it to a folder."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from projects.management.arguments import project_of
from releases.actions import check_empty, freeze
from releases.keeping import served


class Command(BaseCommand):
    help = (
        "Freeze a release of a project, keep it, and write it to a folder: one snapshot, the same bytes for the same "
        "state. A version that exists is written again where its content is the same, and refused where it is not."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        # Django's own --version would print Django's; the command's contract has the release's here.
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="A new or empty folder.")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)
        parser.add_argument("--version", required=True, dest="release", metavar="X.Y.Z")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_of(options["project"])
        try:
            check_empty(options["out"])
            release = freeze(
                project=project, version=options["release"], by=None,
                progress=self._progress if sys.stderr.isatty() else None,
            )  # fmt: skip
            served.copy(release, options["out"])
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        made = release.manifest
        for file in made["files"]:
            self.stdout.write(f"{file['sha256']}  {file['path']}")
        counts = made["counts"]
        self.stdout.write(
            f"{options['out']}: {project.slug} {made['version']}, {counts['clusters']} clusters, "
            f"{counts['answers']} answers"
        )
        self.stdout.write(f"Digest, to be published with it: {made['digest']}")
        if left_out := counts.get("clusters_without_complete_gold"):
            self.stdout.write(f"Left out, their gold is not complete: {', '.join(left_out)}")

    def _progress(self, done: int, total: int | None, note: str) -> None:
        self.stderr.write(f"\r{note:<60}", ending="")
