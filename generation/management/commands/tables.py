"""``manage.py tables``: print the tables of the papers, or write them or their figures to files."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.management.foreground import progress_bar, stoppable
from projects import reports
from projects.management.arguments import project_of, write_json
from projects.reports import rendering
from projects.reports.registry import Tables
from projects.reports.table import Table
from projects.reports.writing import FORMATS, as_dict
from projects.stored_figures.actions import bring_up_to_date


class Command(BaseCommand):
    help = (
        "Print the tables of papers, or write them or their figures to a folder. Missing data are listed with the step "
        "that provides them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        known = [table.key for table in reports.every()]
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--table",
            action="append",
            choices=known,
            metavar="TABLE",
            help=f"May be repeated; by default all tables with data, of: {', '.join(known)}.",
        )
        parser.add_argument(
            "--format",
            choices=[*FORMATS, *rendering.FORMATS],
            default="markdown",
            help="svg, pdf, png and vega (a Vega-Lite specification) write each figure of the tables to a file in "
            "--out.",
        )
        parser.add_argument(
            "--unseen",
            action="store_true",
            help="Leave out, for all systems, the units that were used to train or choose the model of any.",
        )
        parser.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="Folder for one file per table, named after the table. Created if missing.",
        )

    def handle(self, *args: Any, out: Path | None, **options: Any) -> None:
        project = project_of(options["project"])
        bring_up_to_date(project)
        if options["format"] in rendering.FORMATS:
            if out is None:
                raise CommandError("Figures are written to files: give their folder with --out DIR.")
            self._write_figures(Tables(project, unseen=options["unseen"]), options["table"], options["format"], out)
            return
        ending, _, write = FORMATS[options["format"]]
        with stoppable("No table was written."):
            built = self._built(Tables(project, unseen=options["unseen"]), options["table"])
        if options["format"] == "json" and out is None:
            write_json(self.stdout, [as_dict(table) for table in built.values()])
            return
        for i, (key, table) in enumerate(built.items()):
            if out is None:
                self.stdout.write("\n" * bool(i) + write(table))
            else:
                self._write(out / f"{key}.{ending}", write(table).encode())
            # The files of the other formats list the missing steps below the table.
            if options["format"] == "csv":
                for step in table.missing:
                    self.stderr.write(f"{key}: {step.sentence}")

    def _write_figures(self, tables: Tables, keys: list[str] | None, format: rendering.Format, out: Path) -> None:
        with stoppable("Not all figures were written."):
            for table in map(reports.get, keys) if keys else tables.available_tables():
                figures = tables.figures(table)
                if not figures:
                    self.stderr.write(f"{table.key}: no column has intervals, so there is no figure.")
                for figure in figures:
                    name = table.key if figure.key == table.key else f"{table.key}-{figure.key}"
                    try:
                        content = rendering.render(figure, format)
                    except rendering.RendererMissing as missing:
                        raise CommandError(str(missing)) from None
                    self._write(out / f"{name}.{rendering.ENDINGS[format]}", content)

    def _built(self, tables: Tables, wanted: list[str] | None) -> dict[str, Table]:
        keys = wanted or [table.key for table in tables.available_tables()]
        with progress_bar(total=len(keys), unit=" tables") as bar:
            built = {}
            for key in keys:
                bar.set_description(key)
                built[key] = tables.build(reports.get(key))
                bar.update()
        return built

    def _write(self, path: Path, content: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror or error}") from None
        self.stdout.write(str(path))
