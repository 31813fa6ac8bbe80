"""``manage.py import_answers``: import a completed sheet into its round."""

from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from accounts.models import User
from api.problems import Problem
from projects.management.foreground import run_in_foreground
from projects.models import JobStatus, Round
from projects.sheets.actions import check_sheet, report, start_import
from projects.uploads.faults import Fault


class Command(BaseCommand):
    help = (
        "Import a completed sheet (CSV or XLSX) as answers. Rows with faults are not imported; each fault names its "
        "cell."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="The completed sheet, CSV or XLSX.")
        parser.add_argument("--project", required=True, help="Short name of the project.")
        parser.add_argument("--round", required=True, help="Name of the round.")
        parser.add_argument(
            "--by", default="", help="E-mail address of the lead on whose behalf the answers are imported."
        )
        parser.add_argument(
            "--preview", action="store_true", help="Report what the import would store, without storing it."
        )

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        round = (
            Round.objects.select_related("project")
            .filter(project__slug=options["project"], name=options["round"])
            .first()
        )
        if round is None:
            raise CommandError(f"The project {options['project']!r} has no round {options['round']!r}.")
        if not file.is_file():
            raise CommandError(f"File not found: {file}.")
        try:
            counts = self._preview(round, file) if options["preview"] else self._import(round, file, self._by(options))
        except Problem as problem:
            raise CommandError(f"{file.name}: {problem}") from None
        for warning in counts["warnings"]:
            self.stdout.write(f"{file.name}: {warning}")
        for fault in [*counts["faults"]["listed"], *counts["kept_out"]["listed"]]:
            self.stderr.write(str(Fault(**fault)))
        stored = (
            f"{counts['stored']} answers stored"
            if "stored" in counts
            else f"{counts['new'] + counts['corrections']} to store"
        )
        self.stdout.write(
            f"{counts['rows']} rows: {stored}, {counts['unchanged']} already stored, {counts['empty']} empty, "
            f"{counts['faults']['total']} with faults, {counts['kept_out']['total']} excluded"
        )

    def _preview(self, round: Round, path: Path) -> dict[str, Any]:
        with tqdm(unit=" rows", disable=None) as bar:

            def progress(done: int, total: int | None, note: str) -> None:
                bar.set_description(note)
                bar.update(done - bar.n)

            return report(round, check_sheet(round=round, path=path, name=path.name, progress=progress))

    def _import(self, round: Round, path: Path, by: User) -> dict[str, Any]:
        with path.open("rb") as file:
            job = run_in_foreground(start_import(round=round, file=File(file, name=path.name), by=by), unit="rows")
        if job.status != JobStatus.DONE:
            raise CommandError(f"{path.name}: {job.error or 'cancelled'}")
        return dict(job.result or {})

    def _by(self, options: dict[str, Any]) -> User:
        user = User.objects.filter(email__iexact=options["by"]).first()
        if user is None:
            raise CommandError("Set --by to the e-mail address of a lead; the answers are imported on their behalf.")
        return user
