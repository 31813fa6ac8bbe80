"""``manage.py tables``: the papers' tables from the data base."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.management.foreground import progress_bar, stoppable
from projects import tables
from projects.management.arguments import project_of
from projects.models import Project
from projects.tables import Table, Tables
from projects.tables.writing import FORMATS


class Command(BaseCommand):
    help = "Print the tables of papers, or write them to a folder. What is missing is said with its step."

    def add_arguments(self, parser: CommandParser) -> None:
        known = [table.key for table in tables.every()]
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--table", action="append", choices=known, metavar="TABLE",
            help=f"May be repeated; by default all that have something to be about, of: {', '.join(known)}.",
        )  # fmt: skip
        parser.add_argument("--format", choices=list(FORMATS), default="markdown")
        parser.add_argument("--out", type=Path, metavar="DIR", help="A file a table, named by it; made where missing.")

    def handle(self, *args: Any, out: Path | None, **options: Any) -> None:
        project = project_of(options["project"])
        ending, _, write = FORMATS[options["format"]]
        with stoppable("No table was written."):
            built = self._built(project, options["table"])
        for i, (key, table) in enumerate(built.items()):
            if out is None:
                self.stdout.write("\n" * bool(i) + write(table))
            else:
                self._write(out / f"{key}.{ending}", write(table))
            # In the files of the other formats it stands below the table.
            if options["format"] == "csv":
                for step in table.missing:
                    self.stderr.write(f"{key}: {step.sentence}")

    def _built(self, project: Project, asked: list[str] | None) -> dict[str, Table]:
        whole = Tables(project)
        keys = asked or [table.key for table in whole.there()]
        with progress_bar(total=len(keys), unit=" tables") as bar:
            built = {}
            for key in keys:
                bar.set_description(key)
                built[key] = whole.build(tables.get(key))
                bar.update()
        return built

    def _write(self, path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror or error}") from None
        self.stdout.write(str(path))
