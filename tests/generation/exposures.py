"""Build finished trainings and versions of their models, without training anything."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from annotation.models import DataSplit
from audit.digests import digest_of
from generation.models import FineTuning, System, TrainedStudy, TrainingState, Version
from projects.models import Project


def build_training(project: Project, name: str, keys: Iterable[str], *, base: str = "bart") -> FineTuning:
    """Create a finished training whose model is in the folder ``trained-NAME``."""
    split, _ = DataSplit.objects.get_or_create(
        project=project,
        name="split-of-training",
        defaults={"level": "proposition", "mode": "strict", "seed": 0, "parts": [], "report": {}, "digest": "0" * 64}
        # No release has it.
        | {"discarded_at": timezone.now()},
    )
    training = FineTuning.objects.create(
        project=project,
        name=name,
        trainer="seq2seq",
        split=split,
        config={"version": {"model": {"model": base}}, "parts": {}},
        facts={"weights": digest_of(base)},
        hash=digest_of(name),
        state=TrainingState.DONE,
        result={"folder": f"trained-{name}", "weights": digest_of(f"trained-{name}")},
    )
    TrainedStudy.objects.bulk_create(TrainedStudy(fine_tuning=training, key=key) for key in keys)
    return training


def build_trained_version(
    project: Project, name: str, folder: str, level: str = "proposition", weights: str = ""
) -> Version:
    """Create a version of a model in a folder. ``weights``: its hash, by default that of the folder's name."""
    system, _ = System.objects.get_or_create(project=project, name=name)
    content: dict[str, Any] = {"backend": "seq2seq", "level": level, "model": {"model": folder}}
    return Version.objects.create(
        system=system,
        number=1,
        backend="seq2seq",
        level=level,
        config=content,
        facts={"weights": weights or digest_of(folder)},
        hash=digest_of(content),
    )
