"""`manage.py deposit`: write a release as a flat bundle for Zenodo or OSF."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from projects.management.arguments import project_of

from ...models import Release
from ...storage.deposits import METADATA, MOST_FILES, write_deposit


class Command(BaseCommand):
    help = (
        "Write a release as files without folders, with metadata for Zenodo and checksums, for upload to an archive. "
        "Reserve the DOI before the release is created (release --doi), so that its files state it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="Path of a new or empty folder.")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)
        # Replaces Django's own --version option, as in `release`.
        parser.add_argument("--version", required=True, dest="release", metavar="X.Y.Z")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_of(options["project"])
        release = Release.objects.filter(project=project, version=options["release"]).first()
        if release is None:
            raise CommandError(f"{project.slug} has no release {options['release']}.")
        try:
            names = write_deposit(release, options["out"])
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        if not release.manifest.get("doi"):
            self.stderr.write("warning: the release states no DOI. Reserve one, then release with --doi.")
        if len(names) > MOST_FILES:
            self.stderr.write(
                f"warning: {len(names)} files, but Zenodo accepts {MOST_FILES} a record. Upload a zip file."
            )
        self.stdout.write(f"{options['out']}: {len(names)} files. {METADATA} has the metadata of the record.")
