"""Build small corpora, rounds and answers for tests."""

import hashlib
import json
import uuid as uuids
from typing import Any

from django.utils import timezone

from accounts.models import User
from annotation.models import (
    Cluster,
    DataSplit,
    Finding,
    FindingUnit,
    Inclusion,
    PicoElement,
    PicoForm,
    Proposition,
    Review,
    Study,
)
from annotation.splits.actions import store_split
from annotation.splits.computing import compute
from annotation.splits.parameters import SplitParameters
from projects.answers.queries import Submission
from projects.jobs.batches import silent
from projects.models import Assignment, CameBy, Member, Project, Round, Unit
from projects.queue.actions import Submitted, submit
from projects.rounds.actions import open_round
from projects.rounds.planning import RoundPlan

TEXT = "Neither nepralin nor placebo had a significant association with the occurrence of relapse."


def build_cluster(project: Project, number: int = 0, inputs: int = 2, text: str = TEXT) -> Cluster:
    """Create a cluster with a target and some inputs, under its own review."""
    key = f"DEMO{number:04d}"
    review = Review.objects.create(
        project=project, pmid=key, unit=Unit.objects.create(project=project, type="review", key=key)
    )
    unit = Unit.objects.create(project=project, type="cluster", key=f"{key}_0")
    cluster = Cluster.objects.create(project=project, review=review, key=f"{key}_0", position=number, unit=unit)
    for element, form, element_text in (
        ("p", PicoForm.BLANK, ""),
        ("i", PicoForm.EXPLICIT, "nepralin"),
        ("c", PicoForm.EXPLICIT, "placebo"),
        ("o", PicoForm.EXPLICIT, "relapse"),
    ):
        PicoElement.objects.create(cluster=cluster, element=element, form=form, text=element_text)
    for position in range(inputs + 1):
        study = None
        if position:
            study, _ = Study.objects.get_or_create(project=project, pmid=f"{key}{position}")
        Proposition.objects.create(
            cluster=cluster,
            position=position,
            study=study,
            text=text,
            unit=Unit.objects.create(
                project=project, type="proposition", key=f"{key}_0/{position}", context=unit.pk, position=position
            ),
        )
    return cluster


def include(review: Review, *studies: Study, **fields: Any) -> None:
    """Add studies to a review, after its last one."""
    first = review.inclusions.count()
    Inclusion.objects.bulk_create(
        Inclusion(review=review, study=study, position=n, **fields) for n, study in enumerate(studies, first)
    )


def build_finding(project: Project, *units: int, **fields: Any) -> Finding:
    """Create an unanswered finding of a consistency check."""
    common = {"rule": "r", "identity": uuids.uuid4().hex, "reason": "It looks wrong.", "position": 0}
    finding = Finding.objects.create(project=project, found_at=timezone.now(), **common | fields)
    FindingUnit.objects.bulk_create(
        FindingUnit(finding=finding, unit_id=unit, position=n) for n, unit in enumerate(units)
    )
    return finding


def build_split(project: Project, parts: dict[str, str] | None = None, name: str = "main") -> DataSplit:
    """Store a split of clusters as from a file. By default, all clusters are in train."""
    parts = parts or dict.fromkeys(project.clusters.values_list("key", flat=True), "train")
    asked = SplitParameters(name, level="proposition", mode="imported")
    return store_split(project=project, asked=asked, computed=compute(project, asked, silent, assigned=parts), by=None)


def build_round(project: Project, people: list[Member], **plan: Any) -> Round:
    """Open a label round over all propositions of the project."""
    defaults: dict[str, Any] = {"name": "round", "kind": "label", "purpose": "gold", "overlap": 1}
    return open_round(project=project, plan=RoundPlan(people=[m.pk for m in people], **defaults | plan), by=None)


def label_value(
    polarity: str = "no effect", modality: str = "moderate", **cues: list[tuple[int, int]]
) -> dict[str, Any]:
    """Return a label value for `TEXT`; cues are ranges of it."""
    return {
        "polarity": polarity,
        "modality": modality,
        **{
            aspect: [{"start": s, "end": e, "quote": TEXT[s:e]} for s, e in cues.get(aspect, [])]
            for aspect in ("polarity_cue", "modality_cue")
        },
    }


def submission(slot: Assignment, value: dict[str, Any] | None = None, **fields: Any) -> Submission:
    """Return a submission: answered with a value, or skipped without one."""
    body: dict[str, Any] = {
        "assignment": slot.pk,
        "revision": slot.revision,
        "kind": "label",
        "shown": 1,
        "outcome": "answered" if value else "skipped",
        "reason": "" if value else "unclear",
        "value": value,
        "came_by": CameBy.BROWSER,
    } | fields
    digest = hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()
    whole: dict[str, Any] = {"uuid": uuids.uuid4(), "digest": digest} | body
    return Submission(**whole)


def answer(user: User, slot: Assignment, value: dict[str, Any] | None = None, **fields: Any) -> Submitted:
    """Submit an answer, by default *no effect*, *moderate*."""
    return submit(user=user, submission=submission(slot, value or label_value(), **fields))


def skip(user: User, slot: Assignment, **fields: Any) -> Submitted:
    return submit(user=user, submission=submission(slot, None, **fields))
