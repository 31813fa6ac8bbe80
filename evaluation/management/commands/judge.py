"""``manage.py judge``: run a judge on a rating round in the foreground, or continue a run."""

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from projects.jobs.running import run_job
from projects.management.arguments import project_of
from projects.models import Project

from ...judging import actions
from ...models import Judge, JudgeRun, RatingDesign


class Command(BaseCommand):
    help = "Run a judge on the pages of a rating round. The same command with --run continues a run that ended early."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--round", type=int, metavar="N", help="Id of the rating round.")
        parser.add_argument("--judge", metavar="NAME", help="Name of the judge, or its id. The newest version is used.")
        parser.add_argument("--run", type=int, metavar="N", help="Continue this run.")
        parser.add_argument("--samples", type=int, default=1, metavar="N", help="Answers per page and order.")
        parser.add_argument("--both-orders", action="store_true", help="Ask each page in both orders of its texts.")
        parser.add_argument("--max-tokens", type=int, metavar="N", help="Stop at this number of tokens.")
        parser.add_argument("--max-cost", type=_decimal, metavar="N", help="Stop at this cost.")
        parser.add_argument(
            "--licence-reason", default="", metavar="TEXT", help="Why texts of an unknown licence may be sent outside."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_of(options["project"])
        limits = {"max_tokens": options["max_tokens"], "max_cost": options["max_cost"]}
        try:
            run = (
                self._continued(project, options["run"], limits)
                if options["run"]
                else self._new(project, options, limits)
            )
        except Problem as problem:
            raise CommandError(problem.detail) from None
        assert run.job
        run_job(run.job.pk)
        run.refresh_from_db()
        answers = run.answers.count()
        failed = run.answers.filter(is_valid=False).count()
        self.stdout.write(f"Run {run.pk}: {run.state}; {answers} answers, {failed} pages failed. {run.error}".strip())

    def _new(self, project: Project, options: dict[str, Any], limits: dict[str, Any]) -> JudgeRun:
        if not options["round"] or not options["judge"]:
            raise CommandError("Give --round and --judge, or --run.")
        designs = RatingDesign.objects.select_related("round__project", "version__protocol")
        design = designs.filter(round=options["round"], round__project=project).first()
        if design is None:
            raise CommandError("The project has no rating round with this id.")
        return actions.start_run(
            judge=_judge(project, options["judge"]),
            design=design,
            samples=options["samples"],
            both_orders=options["both_orders"],
            licence_reason=options["licence_reason"],
            by=None,
            **limits,
        )

    def _continued(self, project: Project, pk: int, limits: dict[str, Any]) -> JudgeRun:
        if not JudgeRun.objects.of_project(project.pk).filter(pk=pk).exists():
            raise CommandError("The project has no judge run with this id.")
        run = actions.run_of(pk)
        actions.resume_run(run=run, by=None, **limits)
        return run


def _judge(project: Project, name: str) -> Judge:
    judges = Judge.objects.filter(project=project).select_related("project", "project_endpoint")
    by_id = judges.filter(pk=int(name)) if name.isdecimal() and len(name) < 19 else judges.none()
    judge = judges.filter(name=name).order_by("-number").first() or by_id.first()
    if judge is None:
        raise CommandError(f"The project has no judge {name!r}.")
    return judge


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
