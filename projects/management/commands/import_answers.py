"""``manage.py import_answers``: a filled sheet back into its round."""

from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from accounts.models import User
from api.problems import Problem
from projects.actions.sheets import check_sheet, report, start_import
from projects.background import foreground
from projects.models import JobStatus, Round
from projects.uploads.faults import Fault


class Command(BaseCommand):
    help = "Store the rows of a filled sheet (CSV or XLSX) as answers; bad rows stay out and are named by cell."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, help="The project's short name.")
        parser.add_argument("--round", required=True, help="The round's name.")
        parser.add_argument("--by", default="", help="E-mail address of the lead in whose name it is done.")
        parser.add_argument("--preview", action="store_true", help="Say what it would come to; store nothing.")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        round = Round.objects.select_related("project").filter(
            project__slug=options["project"], name=options["round"]
        ).first()  # fmt: skip
        if round is None:
            raise CommandError(f"There is no round {options['round']!r} in a project {options['project']!r}.")
        if not file.is_file():
            raise CommandError(f"{file}: no such file.")
        try:
            said = self._preview(round, file) if options["preview"] else self._import(round, file, self._by(options))
        except Problem as problem:
            raise CommandError(f"{file.name}: {problem}") from None
        for fault in [*said["faults"]["listed"], *said["kept_out"]["listed"]]:
            self.stderr.write(str(Fault(**fault)))
        stored = (
            f"{said['stored']} answers stored" if "stored" in said else f"{said['new'] + said['corrections']} to store"
        )
        self.stdout.write(
            f"{said['rows']} rows: {stored}, {said['unchanged']} stored already, {said['empty']} not filled in, "
            f"{said['faults']['total']} with faults, {said['kept_out']['total']} kept out"
        )

    def _preview(self, round: Round, path: Path) -> dict[str, Any]:
        with tqdm(unit=" rows", disable=None) as bar:

            def progress(done: int, total: int | None, note: str) -> None:
                bar.set_description(note)
                bar.update(done - bar.n)

            return report(round, check_sheet(round=round, path=path, name=path.name, progress=progress))

    def _import(self, round: Round, path: Path, by: User) -> dict[str, Any]:
        with path.open("rb") as file:
            job = foreground.do(start_import(round=round, file=File(file, name=path.name), by=by), unit="rows")
        if job.status != JobStatus.DONE:
            raise CommandError(f"{path.name}: {job.error or 'cancelled'}")
        return dict(job.result or {})

    def _by(self, options: dict[str, Any]) -> User:
        found = User.objects.filter(email__iexact=options["by"]).first()
        if found is None:
            raise CommandError("Say in whose name: --by with a lead's e-mail address.")
        return found
