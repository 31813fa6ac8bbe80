"""``manage.py read``: read the texts of a project with a local model, and store what it says as machine readings."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import ReadingTask
from api.problems import Problem
from projects.jobs.queries import start_worker
from projects.jobs.running import run_job
from projects.management.arguments import project_of, user_of
from projects.models import Job, JobStatus

from ...readings.actions import queue_reading, withdraw


class Command(BaseCommand):
    help = (
        "Read the texts of a project with a token or sequence classifier from a folder below the models folder, in a "
        "background job, and store machine readings. Texts that the model has read are not read again, so the same "
        "command continues. The labels of the folder are checked first. Nothing is downloaded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--task", required=True, choices=ReadingTask.values)
        parser.add_argument("--model", required=True, metavar="DIR", help="A folder below the models folder.")
        parser.add_argument(
            "--evidence",
            default="",
            metavar="DIR",
            help="For effects: a folder with a classifier that finds the evidence sentence of a pair.",
        )
        parser.add_argument(
            "--on-worker",
            action="store_true",
            help="The folders are on the machine of a worker, which checks their labels.",
        )
        parser.add_argument("--user", metavar="EMAIL", help="Person in whose name the job runs, who is notified.")
        parser.add_argument("--here", action="store_true", help="Run the job in this process instead of a worker.")
        parser.add_argument(
            "--withdraw", action="store_true", help="Delete the readings of this task by the folder of this name."
        )

    def handle(
        self, *, project: str, task: str, model: str, evidence: str, user: str | None, here: bool, **options: Any
    ) -> None:
        of, by = project_of(project), user_of(user) if user else None
        if options["withdraw"]:
            removed = withdraw(project=of, task=task, model=model, by=by)
            self.stdout.write(f"{removed:,} readings withdrawn.")
            return
        try:
            on_worker = options["on_worker"]
            job = queue_reading(project=of, task=task, model=model, evidence=evidence, on_worker=on_worker, by=by)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        if not here:
            self.stdout.write(f"Job {job.pk} is queued. A worker runs it: {start_worker(job.queue)}")
            return
        run_job(job.pk)
        self._report(Job.objects.get(pk=job.pk))

    def _report(self, job: Job) -> None:
        if job.status != JobStatus.DONE:
            raise CommandError(job.error or f"Job {job.pk} is {job.status}. Run the command again to continue.")
        for item, message in job.problems.values_list("item", "message"):
            sys.stderr.write(f"{item}: {message}\n")
        counts = job.result or {}
        self.stdout.write(
            f"{counts['read']:,} of {counts['texts']:,} texts read by {counts['model']} (weights "
            f"{counts['weights'][:12]}), {counts['failed']:,} failed."
        )
