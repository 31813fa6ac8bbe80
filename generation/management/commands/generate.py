"""`manage.py generate`: a run of a summariser, in the foreground."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from api.parameters import NEEDED
from api.problems import Problem
from generation.actions.outputs import keep_outputs
from generation.actions.runs import resume_run, start_run
from generation.actions.systems import create_system, make_version, read
from generation.management.foreground import STOPPED, checking, do_run, stoppable
from generation.models import ItemStatus, Run, RunPurpose, RunStatus, System, UnitLevel, Version
from generation.pages.progress import progress_of
from generation.runs import sources
from generation.runs.sources import LEVELS
from generation.systems import presets
from projects.background import jobs
from projects.management.arguments import project_of, user_of
from projects.models import Project
from projects.uploads.files import path_of, store

MADE_BY = "--preset, --config or --outputs"
#: Faults, and keys that no unit has, that are named.
LISTED = 10


class Command(BaseCommand):
    help = (
        "Make the summaries of a system over all units of its level. Workers share the work. Ctrl-C stops it "
        "cleanly, and the same command goes on with the rest."
    )
    purpose: str = RunPurpose.SUMMARIES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--system", required=True, metavar="NAME", help="Made where a version of it is.")
        parser.add_argument("--level", choices=UnitLevel.values, help="Of the units; the version's where not given.")
        made = parser.add_mutually_exclusive_group()
        made.add_argument("--config", type=Path, metavar="FILE.json", help="Make a version of this configuration.")
        made.add_argument("--preset", metavar="KEY", help="Make a version of a preset: bart-xsum, lead-3, mmr-3 ...")
        made.add_argument("--outputs", type=Path, metavar="FILE", help="... of outputs made elsewhere (CSV, JSONL).")
        parser.add_argument(
            "--set", action="append", default=[], dest="changes", metavar="SECTION.NAME=VALUE",
            help="Change a preset's configuration, or the file's (may be repeated): model.model=my-bart",
        )  # fmt: skip
        parser.add_argument("--again", action="store_true", help="Another run, where one has been done already.")
        parser.add_argument("--by", default="", metavar="EMAIL", help="In whose name it is done.")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django's own --version would print Django's.
        parser = super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)
        parser.add_argument("--version", type=int, dest="number", metavar="N", help="The newest where not given.")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        with stoppable("The same command goes on; what was under way may have to wait for a minute."):
            self._do(options)

    def _do(self, options: dict[str, Any]) -> None:
        project = project_of(options["project"])
        by = user_of(options["by"]) if options["by"] else None
        try:
            version = self._version(project, options, by)
            run = self._run(version, options["again"], by)
        except Problem as problem:
            raise CommandError("; ".join(map(_fault, problem.errors)) or problem.detail) from None
        if run.status == RunStatus.DONE:
            self._report_done(run)
            return
        try:
            whole = do_run(run)
        except jobs.Unfit as unfit:
            raise CommandError(f"{unfit} The same command goes on with the rest.") from None
        self._report(run, whole)

    def _version(self, project: Project, options: dict[str, Any], by: User | None) -> Version:
        """The version that is asked for, made where a configuration says what it is."""
        system = project.systems.filter(name=options["system"]).first()
        if system is None and all(options[given] is None for given in ("config", "preset", "outputs")):
            options = options | {"preset": _preset_named(options["system"])}
        config, note = _config(options) if options["outputs"] is None else self._outputs(project, options, by)
        if config is not None and options["preset"] is not None and not options["level"]:
            self._level(project, config)
        if config is None:
            return self._existing(system, options, by)
        if options["number"] is not None:
            raise CommandError("--version names a version that there is; --config, --preset and --outputs make one.")
        for change in options["changes"]:
            _change(config, change)
        if options["level"]:
            config["level"] = options["level"]
        # First whether it can be made and run at all: nothing is left behind that cannot.
        clean, _ = read(config)
        sources.some_places(project, clean["level"])
        system = system or create_system(project=project, name=options["system"], by=by)
        return make_version(system=system, config=config, note=note, by=by)

    def _outputs(self, project: Project, options: dict[str, Any], by: User | None) -> tuple[dict[str, Any], str]:
        """The configuration of outputs made elsewhere, whose file is checked and kept."""
        path: Path = options["outputs"]
        try:
            with path.open("rb") as content:
                upload = path_of(store(UploadedFile(content, name=path.name, size=path.stat().st_size), None))
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
        name, level = path.name[:200], options["level"] or sources.level_of(project, UnitLevel.PROPOSITION)
        try:
            with checking(name) as progress:
                found = keep_outputs(project=project, level=level, path=upload, name=name, by=by, progress=progress)
        finally:
            upload.unlink(missing_ok=True)
        if found.faults:
            raise CommandError("\n".join((found.faults.summary(), *map(str, found.faults.listed[:LISTED]))))
        self._say(f"{name}: {found.about.outputs} outputs, {found.matched} of them for the {found.units} units.")
        for line, key in found.unknown[:LISTED]:
            self.stderr.write(f"{name}:{line}: no unit has the key {key!r}.")
        if found.unknown_total > LISTED:
            self.stderr.write(f"... and {found.unknown_total - LISTED} more keys that no unit has.")
        return {"backend": "imported", "level": level, "model": {"file": found.about.sha256, "name": name}}, name

    def _level(self, project: Project, config: dict[str, Any]) -> None:
        """A preset has its level by habit only: where the project has no unit of it, another one is taken, and said."""
        wanted = config.get("level", UnitLevel.PROPOSITION)
        config["level"] = sources.level_of(project, wanted)
        if config["level"] != wanted:
            self.stderr.write(f"This project has no {LEVELS[wanted]}: made for its {LEVELS[config['level']]}.", str)

    def _existing(self, system: System | None, options: dict[str, Any], by: User | None) -> Version:
        name, level, number = options["system"], options["level"], options["number"]
        if system is None:
            raise CommandError(f"There is no system {name!r} in this project; {MADE_BY} makes it.")
        versions = system.versions.newest_first()
        if number is not None:
            version = versions.filter(number=number).first()
            if version is None:
                raise CommandError(f"{name} has no version {number}.")
            if level and version.level != level:
                raise CommandError(f"Version {number} of {name} is for the level {version.level}, not {level}.")
            return version
        newest = versions.first()
        if newest is None:
            raise CommandError(f"{name} has no version yet; {MADE_BY} makes one.")
        if not level or newest.level == level:
            return newest
        # The same summariser at another level is another version: what it reads is different.
        sources.some_places(system.project, level)
        return versions.filter(level=level).first() or make_version(
            system=system, config={**newest.config, "level": level}, note=newest.note, by=by
        )

    def _run(self, version: Version, again: bool, by: User | None) -> Run:
        """The run to do: the one that was left, or a new one; or the one that has been done."""
        last = version.runs.filter(purpose=self.purpose).first()
        if last is None or (last.status == RunStatus.DONE and again):
            run = start_run(version=version, by=by, purpose=self.purpose)
            self._say(f"{version}: run {run.pk}.")
            return run
        if last.status == RunStatus.DONE:
            return last
        if last.status == RunStatus.STOPPED:
            resume_run(run=last, by=by)
        self._say(f"{version}: going on with run {last.pk}.")
        return last

    def _say(self, line: str) -> None:
        """Beside the result, and no error: not in red."""
        self.stderr.write(line, str)

    def _report_done(self, run: Run) -> None:
        self.stdout.write(f"{run.version}: run {run.pk} is done already; --again makes another.")

    def _report(self, run: Run, whole: bool) -> None:
        progress = progress_of(run)
        said = f"{run.version}: {progress.done} of {progress.total} done"
        if progress.items_cut:
            left = "" if progress.tokens_cut is None else f" ({progress.tokens_cut} tokens left out)"
            said += f", {progress.items_cut} of them from inputs that were cut{left}"
        if not whole:
            self._say(f"Stopped. {said}. The same command goes on with the rest.")
            sys.exit(STOPPED)
        if run.status == RunStatus.STOPPED:
            raise CommandError(f"{said}. It was stopped: {progress.error or 'somebody asked for it'}")
        self.stdout.write(f"{said}.")
        if progress.failed:
            first = run.items.filter(status=ItemStatus.FAILED).select_related("unit").first()
            example = f" The first, {first.unit.key}: {first.error}" if first else ""
            raise CommandError(f"{progress.failed} of {progress.total} failed.{example}")


def _config(options: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The configuration that is given, and a note of where it came from."""
    if options["preset"] is not None:
        return _of_preset(options["preset"])
    if options["config"] is None:
        if options["changes"]:
            raise CommandError(f"--set changes what {MADE_BY} says.")
        return None, ""
    path: Path = options["config"]
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise CommandError(f"{path} is no JSON: {error}.") from None
    if not isinstance(config, dict):
        raise CommandError(f"{path} is no JSON object.")
    return config, path.name[:300]


def _preset_named(system: str) -> str | None:
    """The preset that a system which is not there yet is called after, by key or name."""
    called = (preset.key for preset in presets.PRESETS if system.casefold() in (preset.key, preset.name.casefold()))
    return next(called, None)


def _of_preset(key: str) -> tuple[dict[str, Any], str]:
    try:
        preset = presets.get(key)
    except KeyError:
        known = ", ".join(preset.key for preset in presets.PRESETS)
        raise CommandError(f"There is no preset {key!r}; there are: {known}.") from None
    return {"backend": preset.backend, **preset.config}, f"Preset {key}"


def _change(config: dict[str, Any], change: str) -> None:
    """Put ``section.name=value`` (or ``seed=value``) into a configuration; a value that is no JSON is a text."""
    path, equals, given = change.partition("=")
    section, dot, name = path.partition(".")
    if not equals or not section or (dot and not name):
        raise CommandError(f"--set {change}: SECTION.NAME=VALUE, such as model.model=my-bart.")
    try:
        value = json.loads(given)
    except ValueError:
        value = given
    if not dot:
        config[section] = value
        return
    inner = config.get(section)
    # A copy: a preset must stay as it is.
    config[section] = {**(inner if isinstance(inner, dict) else {}), name: value}


def _fault(error: Mapping[str, str]) -> str:
    """What is wrong with a field; of one that was left open, what gives it."""
    field, message = error["field"], error["message"]
    if message != NEEDED:
        return f"{field}: {message}"
    return f"{field}: {message} Give it with {'--outputs FILE' if field == presets.FILE else f'--set {field}=...'}"
