"""Sections on splits, systems, trainings and automatic metrics."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from annotation.models import SplitMode

from ..facts.study import StudyFacts
from ..facts.systems import MetricFacts, SplitFacts, SystemFacts, TrainingFacts
from ..text import Section, are, count, listed, of_total, one_line, quoted, share

SECTIONS = {"model": "Model", "assembly": "Input", "decoding": "Decoding"}
#: Longest prompt that is quoted. A longer one is identified by its SHA-256.
QUOTED = 1_000


def sections(facts: StudyFacts) -> Iterator[Section]:
    yield _splits(facts.splits)
    yield _systems(facts)
    yield _metrics(facts.metrics)


def _splits(splits: Sequence[SplitFacts]) -> Section:
    section = Section("Data splits")
    for split in splits:
        section.say(_split(split))
    return section


def _split(split: SplitFacts) -> Iterator[str]:
    is_by_component = split.mode in (SplitMode.STRICT, SplitMode.DROP)
    parts = [
        f"{part.name} ({count(part.units, 'unit')} from {count(part.reviews, 'review')}"
        + (f"; {share(part.share)} asked for)" if is_by_component and part.share is not None else ")")
        for part in split.parts
    ]
    level = split.level.lower()
    yield (
        f"The split {quoted(split.name)} (SHA-256 {split.sha256[:12]}) divides "
        f"{count(split.units, level.removesuffix('s'), level)} into {listed(parts)}."
    )
    if is_by_component:
        largest = f"; the largest has {count(split.largest, 'unit')}" if split.largest is not None else ""
        yield (
            "Units that share a review, a PubMed id or a text form a component, and no component was divided: there "
            f"{are(split.components)} {count(split.components, 'component')}{largest}."
        )
        balanced = f" and balanced over {listed(split.strata)}" if split.strata else ""
        yield f"Components were allotted with the seed {split.seed}{balanced}."
    else:
        origin = "are those of the imported data" if split.mode == SplitMode.GIVEN else "were imported from a file"
        yield f"The parts {origin}."
    if split.dropped:
        yield f"{count(split.dropped, 'review')} {are(split.dropped)} left out to divide a component."
    if split.in_no_part:
        yield f"{count(split.in_no_part, 'unit')} {are(split.in_no_part)} in no part."
    near = "near-equal texts were not searched"
    if split.near is not None:
        near = f"texts with a similarity of at least {split.near:g} count as near-equal"
    leakage = listed(split.shared) if split.shared else "no two parts share a PubMed id or an equal text"
    yield f"Leakage: {leakage} ({near})."


def _systems(facts: StudyFacts) -> Section:
    section = Section("Systems")
    for system in facts.systems:
        section.say(_system(system, has_texts=facts.release.has_texts))
    return section


def _system(system: SystemFacts, *, has_texts: bool) -> Iterator[str]:
    task = "scored the targets of" if system.is_probe else "summarised"
    yield (
        f"{one_line(system.name)}, version {system.version} (hash {system.hash[:12]}; {system.backend}), {task} "
        f"{of_total(system.done, system.units, f'unit of level {system.level}', f'units of level {system.level}')}."
    )
    if system.note:
        yield f"Note: {one_line(system.note).rstrip('.')}."
    for key, settings in groupby(system.settings, key=lambda line: line[0]):
        values = "; ".join(
            one_line(value) if label == SECTIONS.get(key) else f"{_lower(label)}: {one_line(value)}"
            for _, label, value in settings
        )
        yield f"{SECTIONS.get(key, key)}: {values}."
    for label, text, digest in system.prompts:
        if has_texts and len(text) <= QUOTED:
            yield f"{label}: {quoted(text)}."
        else:
            yield f"{label}: SHA-256 {digest} (full text on the page of the system)."
    if system.seed is not None:
        yield f"Seed: {system.seed}."
    if system.weights:
        yield f"SHA-256 of the weights: {system.weights}."
    if system.libraries:
        yield f"Libraries: {listed(f'{name} {value}' for name, value in system.libraries)}."
    if system.cut:
        yield f"Inputs were cut off in {of_total(system.cut, system.done, 'unit')}."
    for training in system.trainings:
        yield from _training(training)


def _training(training: TrainingFacts) -> Iterator[str]:
    if not training.name:
        yield f"Its model was trained on {count(training.examples, 'example')} of another project."
        return
    chosen = ""
    if training.development_part:
        step = f", at step {training.best_step:,}" if training.best_step is not None else ""
        chosen = (
            f" and chosen on the part {training.development_part} "
            f"({count(training.development_examples, 'example')}){step}"
        )
    yield (
        f"Its model was trained ({quoted(training.name)}, hash {training.hash[:12]}) on the part "
        f"{training.training_part} of the split {quoted(training.split)} ({count(training.examples, 'example')})"
        f"{chosen}."
    )
    yield f"Training: {'; '.join(f'{_lower(label)}: {value}' for label, value in training.settings)}."


def _lower(label: str) -> str:
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def _metrics(metrics: Sequence[MetricFacts]) -> Section:
    section = Section("Automatic metrics")
    for metric in metrics:
        params = [f"{name}: {value}" for name, value in metric.params]
        libraries = [value if name == "library" else f"{name} {value}" for name, value in metric.libraries]
        how = "; ".join([*params, *(libraries and [f"computed by {listed(libraries)}"])])
        section.say(f"{metric.name}{f' ({how})' if how else ''} was computed for {count(metric.runs, 'run')}.")
    return section
