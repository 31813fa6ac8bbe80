"""What the pages of trainings show."""

from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from annotation.models import DataSplit
from projects.jobs.queries import fresh_job
from projects.models import Job, Member, Project, Role

from .. import sources, trainers
from ..backends import weights
from ..models import FineTuning, UnitLevel, Version
from ..trainers.classifiers import ClassifierTraining
from ..trainers.presets import DEFAULT, PRESETS, TrainingPreset
from ..trainers.seq2seq import BACKENDS
from .actions import KIND

Json = dict[str, Any]
#: Versions that the form offers, newest first.
MOST_VERSIONS = 200


def trainings(project: Project) -> QuerySet[FineTuning]:
    return FineTuning.objects.filter(project=project).select_related("split__project").order_by("-pk")


def choices(project: Project, user: User) -> Json:
    """Return what a training can be made of: trainers, presets, versions, folders, and splits that the user leads."""
    led = Member.objects.active().filter(user=user, role=Role.LEAD).values("project")
    splits = DataSplit.objects.current().filter(project__in=led).select_related("project").order_by("-pk")
    targets = sources.levels_with_targets([*{split.project_id for split in splits}])
    versions = Version.objects.filter(system__project=project, backend__in=BACKENDS).select_related("system")
    return {
        "trainers": [
            {
                "key": trainer.key,
                "name": trainer.name,
                "description": trainer.description,
                "tasks": list(trainer.tasks) if isinstance(trainer, ClassifierTraining) else [],
                "parameters": trainer.parameters,
            }
            for trainer in trainers.every()
        ],
        "presets": [_preset(preset) for preset in PRESETS],
        "levels": [
            {"key": level, "name": sources.LEVELS[level]}
            for level in UnitLevel
            if any(level in of for of in targets.values())
        ],
        "versions": [
            {"id": version.pk, "name": f"{version.system} v{version.number}", "level": version.level}
            for version in versions.order_by("-pk")[:MOST_VERSIONS]
        ],
        "folders": weights.local_folders(),
        "splits": [
            {
                "id": split.pk,
                "name": split.name,
                "project": split.project.slug,
                "level": split.level,
                "divides": [
                    level for level in targets[split.project_id] if split.level in sources.source_of(level).splits
                ],
                "parts": [part["name"] for part in split.parts],
            }
            for split in splits
        ],
    }


def _preset(preset: TrainingPreset) -> Json:
    """Return a preset with the value and the source of every hyperparameter of its trainer."""
    figures = []
    for parameter in trainers.get(preset.trainer).parameters:
        published = preset.training.get(parameter.name)
        value = published.value if published else parameter.default
        figures.append({"name": parameter.name, "value": value, "source": published.source if published else DEFAULT})
    return {
        "key": preset.key,
        "name": preset.name,
        "paper": preset.paper,
        "note": preset.note,
        "trainer": preset.trainer,
        "base": preset.base,
        "level": preset.level,
        "task": preset.task,
        "training": figures,
    }


def job_of(training: FineTuning) -> Job | None:
    """Return the newest job of a training."""
    job = Job.objects.filter(kind=KIND, params={"training": training.pk}).order_by("-pk").first()
    return fresh_job(job) if job else None


def settings_of(training: FineTuning) -> list[Json]:
    """Return what determines the weights, with the labels of the form. Settings that are not used are left out."""
    config = training.config
    version, values = config.get("version") or {}, config.get("training", {})
    rows = {
        "Base model": (version or config).get("model", {}).get("model"),
        "Task": config.get("task"),
        "Seed": (version or config).get("seed"),
    }
    for parameter in trainers.get(training.trainer).parameters:
        if not parameter.name.startswith("lora") or values.get("lora_rank"):
            rows[parameter.label] = values.get(parameter.name)
    return [{"label": label, "value": value} for label, value in rows.items() if value not in (None, "")]
