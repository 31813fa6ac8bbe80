"""Two hundred findings that tiny models can learn: the input states a finding, and the target repeats it.

A counterfactual states the opposite. That is the target of another finding, so that only the input decides.
"""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from annotation.models import Cluster, DataSplit, SplitUnit
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from generation.models import Run
from generation.probing.purpose import pairs_of
from measures.counterfactuals import Kind
from measures.probe import probe_table
from projects.models import Project
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.generation.test_probing import add

DRUGS = ("Statins", "Aspirin", "Exercise", "Insulin", "Antibiotics")
OPPOSITE = {"lowered": "increased", "increased": "lowered", "improved": "reduced", "reduced": "improved"}
OUTCOMES = ("death", "stroke", "pain", "falls", "bleeding", "symptoms", "depression", "disease", "vitamin", "groups")
FINDINGS = list(product(DRUGS, OPPOSITE, OUTCOMES))
#: Hyperparameters with which the tiny models learn in some seconds.
TRAINING: Mapping[str, Any] = {"epochs": 25, "batch": 25, "learning_rate": 1e-2, "target_tokens": 32}


def said(drug: str, verb: str, outcome: str) -> str:
    return f"{drug} {verb} {outcome}."


def read(drug: str, verb: str, outcome: str) -> str:
    return f"The trial found {said(drug, verb, outcome)}"


def import_findings(project: Project, file: Path, counterfactuals: int = 50) -> DataSplit:
    """Import the findings, split them, and add counterfactuals to some of the training part."""
    records = [
        cluster(f"{n}_0", [source(read(*each), str(n))], target_text=said(*each))
        for n, each in enumerate(FINDINGS, start=1000)
    ]
    import_records(project, write(file, records))
    parts = parse_parts("train=90,development=5,test=5")
    split = create_split(project=project, asked=SplitParameters("main", parts=parts), by=None)
    units = SplitUnit.objects.filter(split=split, part="train").order_by("pk").values("unit")
    for each in Cluster.objects.filter(unit__in=units[:counterfactuals]):
        drug, verb, outcome = FINDINGS[int(each.key.partition("_")[0]) - 1000]
        add(each, {Kind.NEGATION: said(drug, OPPOSITE[verb], outcome)})
    return split


def probed(run: Run) -> dict[str, float]:
    """Return the loss of the targets per token, and the probe's delta and accuracy, of a probe on the training part."""
    pairs = pairs_of(run)
    overall = probe_table(pairs, [Kind.NEGATION])[-1]
    assert overall.delta.value is not None
    assert overall.accuracy.value is not None
    loss = fmean(pair.target.mean("all") for pair in pairs)
    return {"loss": loss, "delta": overall.delta.value, "accuracy": overall.accuracy.value, "pairs": len(pairs)}
