"""``import_data``: published files into a project, all or nothing."""

import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from tqdm import tqdm

from accounts.models import User
from annotation.actions.imports import Checked, check_files, import_files, mapping_of, report_of
from annotation.imports import every
from api.problems import Problem
from projects.actions.people import add_member, create_project
from projects.background.progress import Progress, silent
from projects.management.arguments import project_of, user_of
from projects.models import Project, Role
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.source import Source

SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


class Command(BaseCommand):
    help = (
        "Import published files into a project: all rows of all files or none. Prints what is odd, item by item; "
        "exits with 1 and one line a fault (file:line: field: message) when a file has faults."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        known = [format.key for format in every()]
        parser.add_argument("format", choices=known, metavar="FORMAT", help=f"one of: {', '.join(known)}")
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--create", action="store_true", help="make the project if there is none of that name")
        parser.add_argument("--lead", metavar="EMAIL", help="the user who leads the project, where nobody does yet")
        parser.add_argument("--level", default="", help="the level of the files, where it is not to be recognised")
        parser.add_argument(
            "--map", action="append", default=[], metavar="OLD=NEW",
            help="what a value means that the format does not know, or CRITERION:OLD=NEW; may be given again",
        )  # fmt: skip
        parser.add_argument("--topic", default="", help="of pubmed: what the reviews are about")
        parser.add_argument(
            "--review", default="", metavar="PMID", help="of pubmed: the review whose studies these are"
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
        check: bool,
        **_: Any,
    ) -> None:
        sources = [_source(path) for path in paths]
        found = Project.objects.filter(slug=project).first()
        if found is None and not create:
            raise CommandError(f"There is no project {project!r}; --create makes it.")
        if found is None and not SLUG.fullmatch(project):
            raise CommandError(f"{project!r} is no name for a project: small letters, digits and hyphens.")
        leader = user_of(lead) if lead else None
        reports: list[dict[str, Any]] = []
        try:
            with _bar() as progress:
                checked = check_files(
                    project=found, format=format, sources=sources, level=level, progress=progress,
                    mapping=mapping_of(map), about={"topic": topic, "review": review},
                )  # fmt: skip
                if checked.faults:
                    raise BadFiles(checked.faults)
                if not check and checked.parsed:
                    # A project is made with what is in it, or not at all.
                    with nullcontext() if found else transaction.atomic():
                        into = found or create_project(slug=project, name=project, by=leader)
                        made = import_files(project=into, format=format, checked=checked, by=leader, progress=progress)
                        reports = [imported.report for imported in made]
        except BadFiles as bad:
            self._faults(bad.faults)
            raise CommandError(bad.faults.summary()) from None
        except Problem as problem:
            raise CommandError(problem.detail) from None
        self._report(checked, reports or [report_of(parsed) for _, parsed in checked.parsed], wrote=not check)
        if not check:
            self._led(project_of(project), leader)

    def _led(self, project: Project, leader: User | None) -> None:
        """A project that nobody leads is in nobody's pages: it gets the lead that is named, or that is said."""
        if project.members.active().filter(role=Role.LEAD).exists():
            return
        if leader is None:
            self.stderr.write(f"Nobody leads {project.slug}, so nobody sees it: the same command with --lead EMAIL.")
        else:
            add_member(project=project, user=leader, role=Role.LEAD, by=leader)

    def _faults(self, faults: Faults) -> None:
        for fault in faults:
            self.stderr.write(str(fault))

    def _report(self, checked: Checked, reports: list[dict[str, Any]], *, wrote: bool) -> None:
        for source, known in checked.known:
            self.stdout.write(
                f"{source.name}: the same file was imported on {known.created_at:%Y-%m-%d %H:%M} UTC; nothing changes."
            )
        for (source, parsed), report in zip(checked.parsed, reports, strict=True):
            for kind, notices in groupby(
                sorted(report["notices"], key=lambda n: _rank(report, n)), lambda n: n["kind"]
            ):
                self.stdout.write(f"\n{kind}: {report['totals'][kind]}")
                for notice in notices:
                    self.stdout.write(f"  {_line(notice)}")
            if report["notices"]:
                self.stdout.write("")
            done = "imported" if wrote else "would be imported"
            counts = parsed.counts()
            said = ", ".join(f"{counts[name]:,} {name}" for name in counts if name not in ("items", "new", "unchanged"))
            same = f"; {counts['unchanged']:,} were there already and are left alone" if counts["unchanged"] else ""
            level = f"level {parsed.level}: " if parsed.level else ""
            self.stdout.write(f"{source.name}: {level}{said} {done}{same}.")


def _rank(report: dict[str, Any], notice: dict[str, str]) -> int:
    return list(report["totals"]).index(notice["kind"])


def _line(notice: dict[str, str]) -> str:
    where = ", ".join(part for part in (notice["item"], notice["place"], notice["field"]) if part)
    text = f' "{notice["text"]}"' if notice["text"] else ""
    return f"{where}:{text} {notice['message']}" if where else notice["message"]


def _source(path: Path) -> Source:
    if path.is_dir():
        raise CommandError(f"{path} is a folder; give the files in it.")
    try:
        return Source.of(path, str(path))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None


@contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar where a person watches."""
    if not sys.stderr.isatty():
        yield silent
        return
    with tqdm(total=None, unit="", unit_scale=True, leave=False) as bar:
        shown = ""

        def progress(done: int, total: int | None, note: str) -> None:
            nonlocal shown
            if note != shown:
                bar.reset(total)
                bar.set_description(note)
                shown = note
            bar.update(done - bar.n)

        yield progress
