"""Facts about splits, systems, trainings and metrics. Runs under embargo are left out."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any

from annotation.models import DataSplit
from annotation.splits.queries import current_splits, leaking_pairs
from generation import backends, metrics
from generation.exposure import Exposures
from generation.latest_runs import published_runs
from generation.models import FineTuning, RunPurpose, Scoring
from generation.systems.queries import describe, words
from generation.training.queries import settings_of
from projects.models import Project


@dataclass(frozen=True)
class PartFacts:
    """A part of a split. ``share``: what was asked for; None if no share was."""

    name: str
    share: float | None
    units: int
    reviews: int


@dataclass(frozen=True)
class SplitFacts:
    """A split. ``shared``: what two parts share, in words; empty if it is free of leakage."""

    name: str
    level: str
    mode: str
    seed: int
    created_on: date
    sha256: str
    units: int
    parts: tuple[PartFacts, ...]
    in_no_part: int
    dropped: int
    components: int
    #: Number of units of the largest component; None if the split has no components.
    largest: int | None
    strata: tuple[str, ...]
    near: float | None
    shared: tuple[str, ...]


@dataclass(frozen=True)
class TrainingFacts:
    """A training of the model of a version. One of another project has no name and no split."""

    name: str
    split: str
    training_part: str
    development_part: str
    examples: int
    development_examples: int
    settings: tuple[tuple[str, str], ...]
    best_step: int | None
    hash: str


@dataclass(frozen=True)
class SystemFacts:
    """A version of a system, and its run that results use. ``settings``: (section, label, value)."""

    name: str
    version: int
    hash: str
    backend: str
    level: str
    note: str
    seed: int | None
    settings: tuple[tuple[str, str, str], ...]
    #: Prompt template, and its SHA-256.
    prompts: tuple[tuple[str, str, str], ...]
    libraries: tuple[tuple[str, str], ...]
    weights: str
    units: int
    done: int
    cut: int
    finished_on: date | None
    is_probe: bool
    trainings: tuple[TrainingFacts, ...]


@dataclass(frozen=True)
class MetricFacts:
    """A metric with its parameters and libraries, and the number of runs that it scored."""

    name: str
    params: tuple[tuple[str, str], ...]
    libraries: tuple[tuple[str, str], ...]
    runs: int


def split_facts(project: Project) -> tuple[SplitFacts, ...]:
    """Return the facts of the splits that a release has. One query."""
    return tuple(_split(split) for split in current_splits(project))


def _split(split: DataSplit) -> SplitFacts:
    report = split.report
    sizes = {part["part"]: part for part in report.get("parts", ())}
    shares = {part["name"]: part.get("share") for part in split.parts}
    components = report.get("components") or {}
    strata = dict.fromkeys(row["name"] for row in report.get("strata", ()) if row["name"])
    leaking = leaking_pairs(split.name, report["leakage"]["pairs"])
    return SplitFacts(
        name=split.name,
        level=split.get_level_display(),
        mode=split.mode,
        seed=split.seed,
        created_on=split.created_at.date(),
        sha256=split.digest,
        units=report.get("units", 0),
        parts=tuple(
            PartFacts(name, share, sizes.get(name, {}).get("units", 0), sizes.get(name, {}).get("reviews", 0))
            for name, share in shares.items()
        ),
        in_no_part=report.get("in_no_part", 0),
        dropped=len(report.get("dropped", ())),
        components=components.get("count", 0),
        largest=(components.get("largest") or {}).get("units"),
        strata=tuple(strata),
        near=split.options.get("near"),
        shared=tuple(str(pair).partition(": ")[2] for pair in leaking),
    )


def system_facts(project: Project) -> tuple[SystemFacts, ...]:
    """Return the facts of the versions that results use. The number of queries does not grow with them."""
    runs = published_runs(project)
    if not runs:
        return ()
    exposures = Exposures(project)
    by_version = {run.version_id: exposures.trainings(run.version_id) for run in runs}
    ids = set().union(*by_version.values())
    rows = list(FineTuning.objects.filter(pk__in=ids).select_related("split"))
    # A folder has the name of its training, which another project has not published.
    secret = {str(row.result.get("folder")) for row in rows if row.project_id != project.pk}
    trainings = {row.pk: _training(row, project, secret) for row in rows}
    return tuple(_system(run, [trainings[pk] for pk in sorted(by_version[run.version_id])], secret) for run in runs)


def _training(training: FineTuning, project: Project, secret: Collection[str]) -> TrainingFacts:
    is_own = training.project_id == project.pk
    data, result = training.data, training.result
    examples = {role: data.get(role, {}).get("examples", 0) for role in ("training", "development")}
    parts = {role: data.get(role, {}).get("part", "") for role in ("training", "development")}
    return TrainingFacts(
        name=training.name if is_own else "",
        split=training.split.name if is_own else "",
        training_part=parts["training"] if is_own else "",
        development_part=parts["development"] if is_own else "",
        examples=examples["training"],
        development_examples=examples["development"],
        settings=tuple((row["label"], _shown(words(row["value"]), secret)) for row in settings_of(training))
        if is_own
        else (),
        best_step=result.get("best_step"),
        hash=training.hash,
    )


def _shown(value: str, secret: Collection[str]) -> str:
    """Return a value, unless it is a model that another project trained."""
    return "a model of another project" if value in secret else value


def _system(run: Any, trainings: Sequence[TrainingFacts], secret: Collection[str]) -> SystemFacts:
    version = run.version
    config, facts = version.config, version.facts
    lines = describe(config)
    prompts = [line for line in lines if line.section == "prompt" and str(config["prompt"].get(line.name) or "")]
    others = [line for line in lines if line.section != "prompt" and line.words not in ("not set", "off", "")]
    texts = {line.name: str(config["prompt"][line.name]) for line in prompts}
    return SystemFacts(
        name=version.system.name,
        version=version.number,
        hash=version.hash,
        backend=_backend(version.backend),
        level=version.level,
        note=version.note,
        seed=config.get("seed"),
        settings=tuple((line.section, line.label, _shown(line.words, secret)) for line in others),
        prompts=tuple(
            (line.label, texts[line.name], sha256(texts[line.name].encode()).hexdigest()) for line in prompts
        ),
        libraries=_pairs(facts.get("libraries") or {}),
        weights=str(facts.get("weights") or ""),
        units=run.items_total,
        done=run.done,
        cut=run.items_cut,
        finished_on=run.finished_at and run.finished_at.date(),
        is_probe=run.purpose == RunPurpose.PROBE,
        trainings=tuple(trainings),
    )


def _backend(key: str) -> str:
    try:
        return backends.get(key).name
    except KeyError:
        return key


def _pairs(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", " "), words(value)) for name, value in values.items() if value not in (None, ""))


def metric_facts(project: Project) -> tuple[MetricFacts, ...]:
    """Return the facts of the latest scorings of the runs that results use, by metric and parameters. Two queries."""
    runs = [run.pk for run in published_runs(project)]
    scorings = Scoring.objects.latest_finished().filter(run__in=runs).order_by("metric", "pk")
    counts: dict[tuple[Any, ...], int] = defaultdict(int)
    for scoring in scorings.only("metric", "params", "libraries"):
        counts[_metric(scoring.metric), _pairs(scoring.params), _pairs(_flat(scoring.libraries))] += 1
    return tuple(MetricFacts(name, params, libraries, n) for (name, params, libraries), n in counts.items())


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with those of nested dictionaries beside them."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= {f"{name} {key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def _metric(key: str) -> str:
    try:
        return metrics.get(key).name
    except KeyError:
        return key
