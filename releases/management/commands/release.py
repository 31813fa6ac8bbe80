"""`manage.py release`: create a release of a project and write it to a folder."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from measures import identifiers
from projects.management.arguments import project_of
from projects.models import Project

from ...publishing.actions import freeze
from ...sources import checks
from ...sources.options import OPTIONAL, ReleaseOptions
from ...storage import downloads
from ...storage.registry import check_empty


def _doi_of(text: str) -> str:
    try:
        return identifiers.doi(text) if text else ""
    except ValueError as error:
        raise CommandError(f"--doi: {error}") from None


class Command(BaseCommand):
    help = (
        "Create a release of a project, store it, and write it to a folder. The same state gives "
        "the same bytes. An existing version is written again if its content is unchanged, else "
        "refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        # Replaces Django's own --version option: the command uses the name for the version of the release.
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="Path of a new or empty folder.")
        parser.add_argument(
            "--without",
            action="append",
            choices=OPTIONAL,
            default=[],
            help="Leave this out; may be repeated. The manifest says so. Parquet files need requirements/parquet.txt. "
            "Texts of the sources are replaced by their SHA-256; `import_data release` restores them.",
        )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)
        parser.add_argument("--version", required=True, dest="release", metavar="X.Y.Z")
        parser.add_argument("--doi", default="", help="DOI that an archive reserved for this version")
        parser.add_argument("--force", action="store_true", help="release despite failed checks; requires --reason")
        parser.add_argument("--reason", default="", metavar="TEXT", help="why to release despite failed checks")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_of(options["project"])
        if options["force"] != bool(options["reason"].strip()):
            raise CommandError("--force and --reason TEXT belong together.")
        choices = ReleaseOptions(
            doi=_doi_of(options["doi"]), reason=options["reason"].strip(), without=options["without"]
        )
        try:
            check_empty(options["out"])
            self._check(project, choices)
            release = freeze(
                project=project,
                version=options["release"],
                by=None,
                options=choices,
                progress=self._progress if sys.stderr.isatty() else None,
            )
            downloads.copy(release, options["out"])
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
        self.stdout.write(f"Digest, to publish with the release: {made['digest']}")
        if left_out := counts.get("clusters_without_complete_gold"):
            self.stdout.write(f"Omitted, because their gold is incomplete: {', '.join(left_out)}")

    def _check(self, project: Project, choices: ReleaseOptions) -> None:
        """Print the failed checks. Raise `CommandError` if one of them prevents the release."""
        failed = [check for check in checks.run(project, choices) if not check["passed"]]
        for check in failed:
            weight = "failed" if check["blocks"] else "warning"
            self.stderr.write(f"{weight}: {check['title']}: {check['detail']} {check['advice']}")
        blocking = [check["title"] for check in failed if check["blocks"]]
        if blocking and not choices.reason:
            raise CommandError(
                f"Not released, because of failed checks: {', '.join(blocking)}. Add --force --reason TEXT to release "
                "anyway; the reason is logged and part of the manifest."
            )

    def _progress(self, done: int, total: int | None, note: str) -> None:
        self.stderr.write(f"\r{note:<60}", ending="")
