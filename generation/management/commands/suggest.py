"""``manage.py suggest``: make a set of suggestions with a model, from machine readings, or from a file."""

import json
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from api.problems import Problem
from projects import uploads
from projects.jobs.queries import start_worker
from projects.management.arguments import project_of, user_of
from projects.management.foreground import run_in_foreground
from projects.models import Job, JobStatus, Project, SuggestionSet, SuggestionSource
from projects.uploads.actions import start_check
from projects.uploads.faults import Fault

from ...suggesting.actions import SuggestionRequest, queue_suggestions
from ...suggesting.forms import FORMS


class Command(BaseCommand):
    help = (
        "Make suggestions for a task with a chat model, from machine readings, or from a file. A correction round can "
        "show them. Units that have a suggestion in the set are not asked again, so the same command continues."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--kind", required=True, choices=list(FORMS), help="The task.")
        parser.add_argument("--name", required=True, help="Name of the set of suggestions.")
        parser.add_argument(
            "--model", default="", help="Folder below the models folder, model of the endpoint, or model of the file."
        )
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--endpoint", default="", metavar="NAME", help="Ask a model behind this endpoint.")
        source.add_argument("--readings", type=int, metavar="N", help="Adopt the machine readings of this import.")
        source.add_argument("--file", type=Path, metavar="FILE.jsonl", help='Lines {"unit": key, "value": ...}.')
        parser.add_argument("--instruction", default="", metavar="TEXT", help="Added to the prompt after the guideline")
        parser.add_argument(
            "--option", action="append", default=[], metavar="NAME=VALUE", help="An option of the task. Repeatable."
        )
        parser.add_argument("--sample", type=int, metavar="N", help="Ask about this number of units only.")
        parser.add_argument("--seed", type=int, default=1, metavar="N")
        parser.add_argument("--temperature", type=float, default=0.0, metavar="T")
        parser.add_argument("--max-tokens", type=int, default=512, metavar="N", help="Longest answer.")
        parser.add_argument(
            "--licence-reason", default="", metavar="TEXT", help="Why texts of an unknown licence may be sent outside."
        )
        parser.add_argument("--user", metavar="EMAIL", help="Person in whose name the suggestions are made.")
        parser.add_argument("--on-worker", action="store_true", help="Leave the job to a worker.")

    def handle(self, **options: Any) -> None:
        project = project_of(options["project"])
        by = user_of(options["user"]) if options["user"] else None
        values = dict(map(_option, options["option"]))
        try:
            start = _file if options["file"] else _model
            job = start(project, options, values, by)
        except Problem as problem:
            raise CommandError(str(problem)) from None
        if options["on_worker"]:
            self.stdout.write(f"Job {job.pk} is queued. A worker runs it: {start_worker(job.queue)}")
            return
        job = run_in_foreground(job, unit="units")
        if job.status != JobStatus.DONE:
            raise CommandError(job.error or f"Job {job.pk} is {job.status}. Run the command again to continue.")
        faults = (job.result or {}).get("faults", {"total": 0, "listed": []})
        for fault in faults["listed"]:
            self.stderr.write(str(Fault(**fault)))
        if faults["total"]:
            raise CommandError(f"{faults['total']} faults; nothing was stored.")
        made = SuggestionSet.objects.get(project=project, kind=options["kind"], name=" ".join(options["name"].split()))
        valid = made.suggestions.filter(value__isnull=False).count()
        others = made.suggestions.count() - valid
        self.stdout.write(
            f"{made.name} (set {made.pk}, version {made.version[:12]}): {valid:,} suggestions, {others:,} units "
            f"without a valid answer, {made.report.get('forbidden', 0):,} not sent because of the licence."
        )


def _model(project: Project, options: dict[str, Any], values: dict[str, Any], by: User | None) -> Job:
    same = ("kind", "name", "model", "endpoint", "instruction", "sample", "seed", "temperature", "max_tokens")
    request = SuggestionRequest(
        **{name: options[name] for name in same},
        source=SuggestionSource.READINGS.value if options["readings"] else SuggestionSource.CHAT.value,
        imported=options["readings"],
        options=values,
        reason=options["licence_reason"],
    )
    return queue_suggestions(project=project, request=request, by=by)


def _file(project: Project, options: dict[str, Any], values: dict[str, Any], by: User | None) -> Job:
    path: Path = options["file"]
    if not path.is_file():
        raise CommandError(f"File not found: {path}.")
    if not options["model"]:
        raise CommandError("Give --model, the name of the model that made the values.")
    params = {"kind": options["kind"], "name": options["name"], "model": options["model"], "options": values}
    with path.open("rb") as file:
        kept = File(file, name=path.name)
        return start_check(uploads.get("suggestions"), project=project, file=kept, by=by, params=params)


def _option(text: str) -> tuple[str, Any]:
    """Return the name and value of NAME=VALUE. Values are JSON; other values are texts."""
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--option {text}: expected NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
