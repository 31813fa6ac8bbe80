"""``import_data``: import published files into a project.

All or nothing, or file by file for a folder with subfolders.
"""

import re
from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from annotation.imports import Format, every, get
from api.problems import Problem
from projects.management.arguments import project_of, user_of
from projects.management.progress import progress_bar
from projects.models import Import, Project, Role
from projects.people.actions import add_member, create_project
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.files import Source

from ...formats.columns.items import OUTPUTS
from ...imports.actions import (
    Checked,
    check_files,
    format_by_key,
    import_each,
    import_files,
    parse_mapping,
    report_of,
    report_with_warnings,
    summarise_notices,
)
from ...imports.licences import REDISTRIBUTION, state_licence, stated_licence

#: Files for a new project are checked before it is created, up to this size in bytes. Larger ones are read once.
PREVIEWED = 64 * 2**20
SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


class Command(BaseCommand):
    help = (
        "Import published files into a project. All files are checked before anything is written. Files are imported "
        "together or not at all; files of a folder are imported one by one. Unusual values are printed as warnings. "
        "If a file has errors, each is printed as file:line: field: message, and the exit status is 1. A large import "
        "is invisible until it is complete. Ctrl-C withdraws it. If it was killed, run the same command again to "
        "continue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        keys = [format.key for format in every()]
        parser.add_argument("format", choices=keys, metavar="FORMAT", help=f"one of: {', '.join(keys)}")
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder with subfolders")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--create", action="store_true", help="create the project before the import if it does not exist"
        )
        parser.add_argument("--lead", metavar="EMAIL", help="the user who becomes lead if the project has none")
        parser.add_argument(
            "--level", "--split", default="", help="the level or split of the files, if it is not detected"
        )
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="OLD=NEW",
            help="meaning of an unknown value, or CRITERION:OLD=NEW; for ratings also CRITERION:scale=nominal; may "
            "be repeated",
        )
        parser.add_argument("--topic", default="", help="for pubmed: topic of the reviews")
        parser.add_argument(
            "--review",
            default="",
            metavar="PMID",
            help="for pubmed, level studies: PMID of their review, unless a review column or subfolder names give it",
        )
        parser.add_argument(
            "--source",
            default="",
            metavar="PATH",
            help="for release: file or folder (JSON lines or CSV) with the texts that the release lacks",
        )
        parser.add_argument(
            "--map-file",
            type=Path,
            metavar="FILE",
            help="for csv: the roles of the columns, as saved or exported on the Import page (JSON)",
        )
        parser.add_argument(
            "--licence",
            metavar="LICENCE",
            help="licence of the source: an SPDX id such as CC-BY-4.0, or the name of another licence; also for a file "
            "that was imported before",
        )
        parser.add_argument(
            "--redistribution",
            choices=REDISTRIBUTION,
            help="whether the licence allows to redistribute the texts; SPDX licences do. Without --licence, an import "
            "keeps its licence",
        )
        parser.add_argument("--check", action="store_true", help="read and report only; write nothing")

    def handle(
        self,
        *,
        format: str,
        paths: Sequence[Path],
        project: str,
        create: bool,
        lead: str | None,
        level: str,
        map: Sequence[str],
        topic: str,
        review: str,
        source: str,
        map_file: Path | None,
        licence: str | None,
        redistribution: str | None,
        check: bool,
        **_: Any,
    ) -> None:
        sources = [_source(file) for path in paths for file in _files(path, get(format), level)]
        existing = Project.objects.filter(slug=project).first()
        if existing is None and not create:
            raise CommandError(f"There is no project {project!r}. Add --create to create it.")
        if existing is None and not SLUG.fullmatch(project):
            raise CommandError(
                f"{project!r} is not a valid project name. Use lower-case letters, digits, hyphens and underscores."
            )
        leader = user_of(lead) if lead else None
        _check_licence(licence, redistribution)
        written: list[Import] = []
        is_new, checked = False, Checked()
        try:
            with progress_bar() as progress:
                checked = check_files(
                    project=existing,
                    format=format,
                    sources=sources,
                    level=level,
                    progress=progress,
                    mapping=parse_mapping(map),
                    about={"topic": topic, "review": review, "source": source, "columns": _text_of(map_file)},
                    preview=check or (existing is None and sum(source.size for source in sources) <= PREVIEWED),
                )
                if checked.faults:
                    raise BadFiles(checked.faults)
                if not check and checked.sources:
                    # The project is created before the import, because on SQLite that transaction would hold the write
                    # lock throughout.
                    target = existing or create_project(slug=project, name=project, by=leader)
                    is_new = existing is None
                    write = import_each if any(path.is_dir() for path in paths) else import_files
                    for imported in write(project=target, format=format, checked=checked, by=leader, progress=progress):
                        written.append(imported)
        except BadFiles as bad:
            self._faults(bad.faults)
            outcome = "the file was not imported" if written else "nothing was imported"
            raise CommandError(
                bad.faults.summary(outcome) + _partial_result(project, is_new, checked, written)
            ) from None
        except Problem as problem:
            raise CommandError(problem.detail + _partial_result(project, is_new, checked, written)) from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted. The import that was not complete was withdrawn.") from None
        self._known(checked)
        if (licence is not None or redistribution is not None) and not check:
            for imported in (*written, *(known.imported for known in checked.known)):
                # Without --licence the import keeps its licence, or that of its format.
                name = imported.licence if licence is None else licence
                try:
                    state_licence(imported, stated_licence(name, redistribution or ""), by=leader)
                except Problem as problem:
                    raise CommandError(f"{imported.file_name} is imported. {problem.detail}") from None
        sets = [sources for sources, _ in checked.sets] or [[source] for source in checked.sources]
        names = [", ".join(source.name for source in sources) for sources in sets]
        for name, (_file, found) in zip(names, checked.parsed if check else (), strict=False):
            self._report(name, found.level, found.counts(), report_of(found), wrote=False)
        for name, row in zip(names, written, strict=False):
            self._report(name, row.level, row.counts, report_with_warnings(row), wrote=True)
        if not check:
            self._led(project_of(project), leader)
            for line in format_by_key(format).results([parsed for _, parsed in checked.parsed]):
                self.stdout.write(line)

    def _led(self, project: Project, leader: User | None) -> None:
        """Add the given lead to a project without one, or warn: nobody can see a project without a lead."""
        if project.members.active().filter(role=Role.LEAD).exists():
            return
        if leader is None:
            self.stderr.write(
                f"The project {project.slug} has no lead, so no one can open it. Run this command again "
                "with --lead EMAIL."
            )
        else:
            add_member(project=project, user=leader, role=Role.LEAD, by=leader)

    def _faults(self, faults: Faults) -> None:
        for fault in faults:
            self.stderr.write(str(fault))

    def _known(self, checked: Checked) -> None:
        for earlier in checked.known:
            at = f"{earlier.imported.created_at:%Y-%m-%d %H:%M} UTC"
            self.stdout.write(f"{earlier.source.name}: this file was already imported on {at}. Nothing changes.")
            self._notices(summarise_notices(earlier.differing))

    def _report(self, name: str, level: str, counts: dict[str, int], report: dict[str, Any], *, wrote: bool) -> None:
        self._notices(report)
        if report["notices"]:
            self.stdout.write("")
        outcome = "imported" if wrote else "would be imported"
        items = ", ".join(f"{counts[key]:,} {key}" for key in counts if key not in ("items", "new", "unchanged"))
        unchanged = f"; {counts['unchanged']:,} already exist and stay unchanged" if counts["unchanged"] else ""
        self.stdout.write(f"{name}: {f'level {level}: ' if level else ''}{items} {outcome}{unchanged}.")
        if wrote and counts.get(OUTPUTS):
            self.stdout.write(
                "A worker makes a run of each column with summaries of a system. Start one: manage.py work"
            )

    def _notices(self, report: dict[str, Any]) -> None:
        ranked = sorted(report["notices"], key=lambda n: _rank(report, n))
        for kind, notices in groupby(ranked, lambda n: n["kind"]):
            self.stdout.write(f"\n{kind}: {report['totals'][kind]}")
            for notice in notices:
                self.stdout.write(f"  {_line(notice)}")


def _partial_result(project: str, is_new: bool, checked: Checked, written: Sequence[object]) -> str:
    """Return a message about what an import had written before it failed."""
    next_step = "Run the same command again to continue."
    if written:
        return f" {len(written)} of {len(checked.sources)} files were imported before. {next_step}"
    return f" The project {project} was created and is empty. {next_step}" if is_new else ""


def _rank(report: dict[str, Any], notice: dict[str, str]) -> int:
    return list(report["totals"]).index(notice["kind"])


def _line(notice: dict[str, str]) -> str:
    where = ", ".join(part for part in (notice["item"], notice["place"], notice["field"]) if part)
    text = f' "{notice["text"]}"' if notice["text"] else ""
    return f"{where}:{text} {notice['message']}" if where else notice["message"]


def _files(path: Path, format: Format, level: str) -> list[Path]:
    """Return the file, the files of a level in a folder, or the files in the subfolders of a folder.

    A subfolder's name is the PMID of its review.
    """
    if not path.is_dir():
        return [path]
    if named := format.files_of(path, level):
        return named
    folders = format.folders
    files = sorted(file for file in path.glob("*/*") if file.is_file() and not file.name.startswith("."))
    if not (files and folders):
        subfolders = ", or a folder with one subfolder per review" if folders else ""
        raise CommandError(f"{path} is a folder. Give the files in it{subfolders}.")
    return files


def _check_licence(licence: str | None, redistribution: str | None) -> None:
    """Raise `CommandError` if these options are invalid, before anything is imported."""
    try:
        if licence is not None:
            stated_licence(licence, redistribution or "")
    except Problem as problem:
        raise CommandError(problem.detail) from None


def _text_of(path: Path | None) -> str:
    try:
        return path.read_text(encoding="utf-8-sig") if path else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from None


def _source(path: Path) -> Source:
    if path.exists() and not path.is_file():
        raise CommandError(f"{path} is not a regular file. Its content must be readable twice: write it to a file.")
    try:
        return Source.of(path, str(path))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
