"""`manage.py generate`: run a summariser in the foreground."""

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
from generation.management.foreground import STOPPED, checking, process_run, stoppable
from generation.models import ItemStatus, Run, RunPurpose, RunStatus, System, UnitLevel, Version
from generation.systems import presets
from projects.jobs.running import WorkerUnhealthy
from projects.management.arguments import project_of, user_of
from projects.models import Project
from projects.uploads.files import path_of, store

from ... import sources
from ...imported_runs.actions import keep_outputs
from ...runs.actions import resume_run, start_run
from ...runs.queries import progress_of
from ...sources import LEVELS
from ...systems.actions import create_system, make_version, read

CREATING_OPTIONS = "--preset, --config or --outputs"
#: Maximum number of faults, and of keys without a unit, that are printed.
LISTED = 10


class Command(BaseCommand):
    help = (
        "Generate the summaries of a system for all units of its level. Workers share the work. Ctrl-C stops the run "
        "cleanly; the same command resumes it."
    )
    purpose: str = RunPurpose.SUMMARIES

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--system",
            required=True,
            metavar="NAME",
            help="A system that does not exist is created with its first version.",
        )
        parser.add_argument(
            "--level", choices=UnitLevel.values, help="Level of the units; by default the level of the version."
        )
        sources_group = parser.add_mutually_exclusive_group()
        sources_group.add_argument(
            "--config", type=Path, metavar="FILE.json", help="Create a version from this configuration."
        )
        sources_group.add_argument(
            "--preset", metavar="KEY", help="Create a version from a preset, such as bart-xsum, lead-3 or mmr-3."
        )
        sources_group.add_argument(
            "--outputs",
            type=Path,
            metavar="FILE",
            help="Create a version from outputs of another program (CSV, JSONL).",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            dest="changes",
            metavar="SECTION.NAME=VALUE",
            help="Change the configuration of the preset or file, such as model.model=my-bart. May be repeated.",
        )
        parser.add_argument("--again", action="store_true", help="Start another run if the last one is done.")
        parser.add_argument("--by", default="", metavar="EMAIL", help="E-mail address of the user who starts the run.")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Replace the ``--version`` option of Django, which prints the Django version.
        parser = super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)
        parser.add_argument("--version", type=int, dest="number", metavar="N", help="The newest by default.")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        with stoppable("The same command resumes the run; items in progress may have to wait for a minute."):
            self._generate(options)

    def _generate(self, options: dict[str, Any]) -> None:
        project = project_of(options["project"])
        by = user_of(options["by"]) if options["by"] else None
        try:
            version = self._version(project, options, by)
            run = self._run(version, options["again"], by)
        except Problem as problem:
            raise CommandError("; ".join(map(_field_message, problem.errors)) or problem.detail) from None
        if run.status == RunStatus.DONE:
            self._report_done(run)
            return
        try:
            is_complete = process_run(run)
        except WorkerUnhealthy as error:
            raise CommandError(f"{error} The same command resumes the run.") from None
        self._report(run, is_complete)

    def _version(self, project: Project, options: dict[str, Any], by: User | None) -> Version:
        """Return the requested version, or create it from the given configuration."""
        system = project.systems.filter(name=options["system"]).first()
        if system is None and all(options[option] is None for option in ("config", "preset", "outputs")):
            options = options | {"preset": _preset_named(options["system"])}
        config, note = _config(options) if options["outputs"] is None else self._outputs(project, options, by)
        if config is not None and options["preset"] is not None and not options["level"]:
            self._level(project, config)
        if config is None:
            return self._existing(system, options, by)
        if options["number"] is not None:
            raise CommandError("--version selects an existing version; --config, --preset and --outputs create one.")
        for change in options["changes"]:
            _apply_change(config, change)
        if options["level"]:
            config["level"] = options["level"]
        # Check first that the version can be created and run, so that a failure leaves nothing behind.
        clean, _ = read(config)
        sources.required_places(project, clean["level"])
        system = system or create_system(project=project, name=options["system"], by=by)
        return make_version(system=system, config=config, note=note, by=by)

    def _outputs(self, project: Project, options: dict[str, Any], by: User | None) -> tuple[dict[str, Any], str]:
        """Check and store a file of imported outputs, and return its configuration."""
        path: Path = options["outputs"]
        try:
            with path.open("rb") as content:
                upload = path_of(store(UploadedFile(content, name=path.name, size=path.stat().st_size), None))
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
        name, level = path.name[:200], options["level"] or sources.level_of(project, UnitLevel.PROPOSITION)
        try:
            with checking(name) as progress:
                checked = keep_outputs(project=project, level=level, path=upload, name=name, by=by, progress=progress)
        finally:
            upload.unlink(missing_ok=True)
        if checked.faults:
            raise CommandError("\n".join((checked.faults.summary(), *map(str, checked.faults.listed[:LISTED]))))
        self._write_note(
            f"{name}: {checked.about.outputs} outputs, {checked.matched} of them for the {checked.units} units."
        )
        for warning in checked.about.warnings:
            self._write_note(f"{name}: {warning}")
        for line, key in checked.unknown[:LISTED]:
            self.stderr.write(f"{name}:{line}: no unit has the key {key!r}.")
        if checked.unknown_total > LISTED:
            self.stderr.write(f"... and {checked.unknown_total - LISTED} more keys without a unit.")
        return {"backend": "imported", "level": level, "model": {"file": checked.about.sha256, "name": name}}, name

    def _level(self, project: Project, config: dict[str, Any]) -> None:
        """Set the level of a preset.

        If the project has no units of its default level, use another one and report it.
        """
        wanted = config.get("level", UnitLevel.PROPOSITION)
        config["level"] = sources.level_of(project, wanted)
        if config["level"] != wanted:
            self.stderr.write(
                f"This project has no {LEVELS[wanted]}: the version is for its {LEVELS[config['level']]}.", str
            )

    def _existing(self, system: System | None, options: dict[str, Any], by: User | None) -> Version:
        name, level, number = options["system"], options["level"], options["number"]
        if system is None:
            raise CommandError(f"There is no system {name!r} in this project; {CREATING_OPTIONS} creates it.")
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
            raise CommandError(f"{name} has no version yet; {CREATING_OPTIONS} creates one.")
        if not level or newest.level == level:
            return newest
        # The same summariser at another level is a separate version, because it reads other texts.
        sources.required_places(system.project, level)
        return versions.filter(level=level).first() or make_version(
            system=system, config={**newest.config, "level": level}, note=newest.note, by=by
        )

    def _run(self, version: Version, restart: bool, by: User | None) -> Run:
        """Return the run to do: the unfinished last run, a new run, or the finished run."""
        last = version.runs.filter(purpose=self.purpose).first()
        if last is None or (last.status == RunStatus.DONE and restart):
            run = start_run(version=version, by=by, purpose=self.purpose)
            self._write_note(f"{version}: run {run.pk}.")
            for reason, count in run.skipped.items():
                self._write_note(f"{reason.capitalize()} are skipped: {count}.")
            return run
        if last.status == RunStatus.DONE:
            return last
        if last.status == RunStatus.STOPPED:
            resume_run(run=last, by=by)
        self._write_note(f"{version}: resuming run {last.pk}.")
        return last

    def _write_note(self, line: str) -> None:
        """Write a message to stderr without the style of an error."""
        self.stderr.write(line, str)

    def _summarise(self, line: str) -> None:
        self.stdout.write(line)

    def _report_done(self, run: Run) -> None:
        self._summarise(f"{run.version}: run {run.pk} is already done; --again starts another.")

    def _report(self, run: Run, is_complete: bool) -> None:
        progress = progress_of(run)
        summary = f"{run.version}: {progress.done} of {progress.total} done"
        if progress.items_cut:
            omitted = "" if progress.tokens_cut is None else f" ({progress.tokens_cut} tokens left out)"
            summary += f", {progress.items_cut} of them from truncated inputs{omitted}"
        if not is_complete:
            self._write_note(f"Stopped. {summary}. The same command resumes the run.")
            sys.exit(STOPPED)
        if run.status == RunStatus.STOPPED:
            raise CommandError(f"{summary}. The run was stopped: {progress.error or 'on request'}")
        self._summarise(f"{summary}.")
        if progress.failed:
            first = run.items.filter(status=ItemStatus.FAILED).select_related("unit").first()
            example = f" The first, {first.unit.key}: {first.error}" if first else ""
            raise CommandError(f"{progress.failed} of {progress.total} failed.{example}")


def _config(options: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the configuration from the options, and a note of its origin."""
    if options["preset"] is not None:
        return _preset_config(options["preset"])
    if options["config"] is None:
        if options["changes"]:
            raise CommandError(f"--set requires {CREATING_OPTIONS}.")
        return None, ""
    path: Path = options["config"]
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise CommandError(f"{path} is not valid JSON: {error}.") from None
    if not isinstance(config, dict):
        raise CommandError(f"{path} must contain a JSON object.")
    return config, path.name[:300]


def _preset_named(system: str) -> str | None:
    """Return the preset whose key or name equals the name of a new system."""
    keys = (preset.key for preset in presets.PRESETS if system.casefold() in (preset.key, preset.name.casefold()))
    return next(keys, None)


def _preset_config(key: str) -> tuple[dict[str, Any], str]:
    try:
        preset = presets.get(key)
    except KeyError:
        known = ", ".join(preset.key for preset in presets.PRESETS)
        raise CommandError(f"There is no preset {key!r}. Available: {known}.") from None
    return {"backend": preset.backend, **preset.config}, f"Preset {key}"


def _apply_change(config: dict[str, Any], change: str) -> None:
    """Set ``section.name=value`` (or ``seed=value``) in a configuration. A value that is not valid JSON is a string."""
    path, equals, text = change.partition("=")
    section, dot, name = path.partition(".")
    if not equals or not section or (dot and not name):
        raise CommandError(f"--set {change}: expected SECTION.NAME=VALUE, such as model.model=my-bart.")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if not dot:
        config[section] = value
        return
    section_values = config.get(section)
    # Copy the section, because presets must not change.
    config[section] = {**(section_values if isinstance(section_values, dict) else {}), name: value}


def _field_message(error: Mapping[str, str]) -> str:
    """Return the message for an invalid field. For a missing field, name the option that sets it."""
    field, message = error["field"], error["message"]
    if message != NEEDED:
        return f"{field}: {message}"
    return f"{field}: {message} Set it with {'--outputs FILE' if field == presets.FILE else f'--set {field}=...'}"
