"""``manage.py protocols``: import, export, list and check rating protocols as JSON."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from api.problems import Problem
from evaluation.models import Protocol, ProtocolVersion
from evaluation.protocols import shipped
from evaluation.protocols.content import as_json, faults_of, load, unready
from projects.management.arguments import add_format, project_of, user_of, write_json
from projects.models import Project

from ...protocols.actions import create_protocol, write_version
from ...protocols.queries import file_of


class Command(BaseCommand):
    help = "List, add or export the rating protocols of a project, or check a protocol file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="Required, except with --check.")
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--add",
            metavar="TEMPLATE|FILE.json",
            help=(
                f"Add a template ({', '.join(shipped.KEYS)}) or a JSON file. Writes the next version if --name exists."
            ),
        )
        what.add_argument("--export", metavar="NAME", help="Write a protocol as JSON to --out, or print it.")
        what.add_argument("--check", type=Path, metavar="FILE.json", help="Report the problems of a file.")
        parser.add_argument("--name", help="Name of the added protocol; its title by default.")
        parser.add_argument("--number", type=int, metavar="N", help="The version to export; the newest by default.")
        parser.add_argument("--out", type=Path, metavar="FILE.json")
        parser.add_argument("--by", default="", metavar="EMAIL", help="E-mail address of the author.")
        add_format(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            return self._check(options["check"])
        if not options["project"]:
            raise CommandError("--project SLUG is required.")
        project = project_of(options["project"])
        if options["add"]:
            by = user_of(options["by"]) if options["by"] else None
            return self._add(project, options["add"], options["name"], by)
        if options["export"]:
            return self._export(project, options["export"], options["number"], options["out"])
        return self._list(project, options["format"])

    def _check(self, path: Path) -> None:
        content = _read(path)
        if faults := faults_of(content):
            raise CommandError("\n".join(map(str, faults)))
        for sentence in unready(load(content)):
            self.stdout.write(sentence)
        self.stdout.write(f"{path}: valid protocol.")

    def _add(self, project: Project, source: str, name: str | None, by: User | None) -> None:
        content = as_json(shipped.get(source).content) if source in shipped.KEYS else _read(Path(source))
        title = content.get("title") if isinstance(content, dict) else None
        name = name or (title if isinstance(title, str) else "")
        note = f"Template {source}" if source in shipped.KEYS else Path(source).name[:300]
        protocol = project.protocols.filter(name=name).first()
        try:
            if protocol:
                version = write_version(protocol=protocol, content=content, note=note, by=by)
            else:
                version = create_protocol(project=project, name=name, content=content, note=note, by=by)
        except Problem as problem:
            errors = "\n".join(f"{error['field']}: {error['message']}" for error in problem.errors)
            raise CommandError(errors or problem.detail) from None
        self.stdout.write(f"{version}, {version.digest[:12]}")
        for sentence in unready(load(version.content)):
            self.stderr.write(f"Draft. Before you can use it: {sentence}", str)

    def _export(self, project: Project, name: str, number: int | None, out: Path | None) -> None:
        version = self._version(project, name, number)
        _, text = file_of(version)
        if out is None:
            self.stdout.write(text, ending="")
            return
        try:
            out.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise CommandError(f"{out}: {error.strerror or error}") from None
        self.stdout.write(str(out))

    def _version(self, project: Project, name: str, number: int | None) -> ProtocolVersion:
        protocol = project.protocols.filter(name=name).first()
        if protocol is None:
            known = ", ".join(project.protocols.values_list("name", flat=True)) or "none"
            raise CommandError(f"The project has no protocol {name!r}; it has: {known}.")
        versions = protocol.versions.newest_first()
        version = (versions.filter(number=number) if number is not None else versions).first()
        if version is None:
            raise CommandError(f"{name} has no version {number}.")
        return version

    def _list(self, project: Project, format: str) -> None:
        rows: list[dict[str, Any]] = [
            {"name": protocol.name, "version": version.number, "kind": protocol.kind, "sha256": version.digest}
            for protocol in Protocol.objects.filter(project=project).prefetch_related("versions")
            for version in protocol.versions.all()
        ]
        if format == "json":
            write_json(self.stdout, rows)
            return
        for row in rows:
            self.stdout.write(f"{row['name']} v{row['version']} ({row['kind']}), {row['sha256'][:12]}")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise CommandError(f"{path} is not valid JSON: {error}.") from None
