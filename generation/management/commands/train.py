"""``manage.py train``: train a local model on a part of a split, in a background job."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import DataSplit
from api.problems import Problem
from projects.jobs.queries import start_worker
from projects.jobs.running import run_job
from projects.management.arguments import project_of, user_of
from projects.models import Job

from ... import trainers
from ...backends.identity import GPU
from ...models import FineTuning, TrainingState, UnitLevel
from ...trainers import presets
from ...training.actions import KIND, request_training, resume


class Command(BaseCommand):
    help = (
        "Train a model of the models folder on a part of a split, with checkpoints. The same command continues a "
        "training that failed or was cancelled. The trained model is a folder below the models folder."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="The project that gets the model.")
        parser.add_argument("--name", required=True, help="Name of the training.")
        parser.add_argument(
            "--config", type=Path, metavar="FILE.json", help="Sections of the trainer. Needed to start."
        )
        parser.add_argument(
            "--preset",
            choices=[preset.key for preset in presets.PRESETS],
            help="Train as a paper did; --model names the base, --config may change hyperparameters.",
        )
        parser.add_argument("--model", default="", metavar="FOLDER", help="Base model of a preset.")
        parser.add_argument("--level", default="", choices=UnitLevel.values, help="Level, if not that of the preset.")
        parser.add_argument("--trainer", default="seq2seq", choices=[trainer.key for trainer in trainers.every()])
        parser.add_argument("--split", metavar="NAME", help="A split that is not discarded. Needed to start.")
        parser.add_argument("--data-project", metavar="SLUG", help="The project of the split; by default the same.")
        parser.add_argument("--part", default="train", metavar="NAME", help="Part to train on.")
        parser.add_argument("--development", default="", metavar="NAME", help="Part to evaluate and choose by.")
        parser.add_argument("--by", metavar="EMAIL", help="Person in whose name the job runs, who is notified.")
        parser.add_argument("--here", action="store_true", help="Run the job in this process instead of a worker.")

    def handle(self, *, project: str, name: str, by: str | None, here: bool, **options: Any) -> None:
        of, user = project_of(project), user_of(by) if by else None
        training = FineTuning.objects.filter(project=of, name=name).first()
        try:
            if training is None:
                training = request_training(
                    project=of,
                    name=name,
                    trainer=presets.get(options["preset"]).trainer if options["preset"] else options["trainer"],
                    split=_split(options["data_project"] or project, options["split"]),
                    config=_config(options),
                    by=user,
                )
            elif training.state in (TrainingState.FAILED, TrainingState.CANCELLED):
                resume(training=training, by=user)
        except Problem as problem:
            faults = "; ".join(f"{error['field']}: {error['message']}" for error in problem.errors)
            raise CommandError(faults or problem.detail) from problem
        if training.state != TrainingState.DONE:
            job = Job.objects.filter(project=of, kind=KIND, params={"training": training.pk}).latest("pk")
            if not here:
                self.stdout.write(f"Job {job.pk} is queued. A worker runs it: {start_worker(GPU)}")
                return
            run_job(job.pk)
            training.refresh_from_db()
        self._report(training)

    def _report(self, training: FineTuning) -> None:
        for role in ("training", "development"):
            for reason, count in training.data.get(role, {}).get("left_out", {}).items():
                sys.stderr.write(f"{role}: {count} left out: {reason}\n")
        if training.state != TrainingState.DONE:
            raise CommandError(
                training.error or f"The training is {training.state}. Run the command again to continue."
            )
        result = training.result
        examples = training.data["training"]["examples"]
        self.stdout.write(
            f"{training}: {result['steps']:,} updates on {examples:,} examples. Model {result['folder']} (weights "
            f"{result['weights'][:12]}), best at update {result['best_step']:,}."
        )


def _split(slug: str, name: str | None) -> DataSplit:
    if not name:
        raise CommandError("Name the split to train on: --split NAME.")
    split = DataSplit.objects.current().filter(project=project_of(slug), name=name).first()
    if split is None:
        raise CommandError(f"Project {slug} has no split {name}. `manage.py split` creates one.")
    return split


def _config(options: dict[str, Any]) -> dict[str, Any]:
    config = _file(options["config"])
    if options["preset"]:
        config = presets.configuration(
            presets.get(options["preset"]),
            model=options["model"],
            level=options["level"],
            seed=config.get("seed", 0),
            training=config.get("training", {}),
        )
    elif not config:
        raise CommandError("Name the configuration, --config FILE.json, or a preset, --preset KEY.")
    return config | {"parts": {"training": options["part"], "development": options["development"]}}


def _file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {error}") from error
    if not isinstance(config, dict):
        raise CommandError(f"{path}: expected a JSON object.")
    return config
