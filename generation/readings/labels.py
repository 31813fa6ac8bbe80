"""The labels that a folder must have for each task, checked before anything is read. They are read from config.json."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.models import SENTENCE_CLASSES, ReadingTask
from measures.direction import MS2_CLASSES
from measures.pio import PioKind

from ..backends.protocol import BackendError

#: Names of a class that count as this class, beside its own. Case, "_" and "-" do not matter.
Classes = Mapping[str, tuple[str, ...]]
DIRECTIONS: Classes = dict(
    zip(
        MS2_CLASSES,
        (
            ("decreased", "decreases", "decrease"),
            ("no difference", "no change", "unchanged"),
            ("increased", "increases", "increase"),
        ),
        strict=True,
    )
)
FITNESS: Classes = {
    "suitable": ("include", "included", "yes", "true"),
    "unsuitable": ("not suitable", "exclude", "excluded", "no", "false"),
}
EVIDENCE: Classes = {"evidence": ("yes", "true"), "no evidence": ("not evidence", "none", "no", "false")}
ELEMENTS: Classes = {
    "pop": ("p", "population", "populations", "participant", "participants", "patient", "patients"),
    "int": ("i", "intervention", "interventions"),
    "out": ("o", "outcome", "outcomes"),
}
OUTSIDE = ("none", "n", "0", "outside", "_")
SENTENCES: Classes = dict.fromkeys(SENTENCE_CLASSES, ())
_PREFIXED = re.compile(r"([BI])[-_](.+)")
_HEADS = {"ForTokenClassification": "tokens", "ForSequenceClassification": "sequences"}
#: Kinds of heads that a task can use.
_HEADS_OF = {ReadingTask.PIO: ("tokens",), ReadingTask.SENTENCES: ("sequences", "tokens")}


@dataclass(frozen=True)
class Tag:
    """Meaning of a label of words. ``kind`` is None outside of spans; ``begins``: it starts a span of its own."""

    kind: PioKind | None
    begins: bool


@dataclass(frozen=True)
class Head:
    """The classification head of a folder: over tokens or sequences, and its labels in the order of the outputs."""

    kind: str
    labels: tuple[str, ...]


def head_of(folder: Path, task: str) -> Head:
    """Return the head of a folder. Raise `BackendError` if the task cannot use it. No model is loaded."""
    try:
        config: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        names = config.get("id2label") or {}
        labels = tuple(str(names[key]) for key in sorted(names, key=int))
        architectures = [str(name) for name in config.get("architectures") or ()]
    except FileNotFoundError:
        raise BackendError("The folder has no config.json.") from None
    except (ValueError, AttributeError, TypeError) as wrong:
        raise BackendError(f"config.json is invalid: {wrong}") from wrong
    kinds = {kind for suffix, kind in _HEADS.items() for name in architectures if name.endswith(suffix)}
    allowed = _HEADS_OF.get(ReadingTask(task), ("sequences",))
    if len(kinds) != 1 or not kinds <= set(allowed):
        raise BackendError(
            f"The task {task} needs a classifier of {' or '.join(allowed)}; config.json names "
            f"{', '.join(architectures) or 'no architecture'}."
        )
    if config.get("problem_type") == "multi_label_classification":
        raise BackendError("The classifier gives several labels at once (problem_type). One label is expected.")
    return Head(kinds.pop(), labels)


def columns(labels: Sequence[str], classes: Classes) -> list[int]:
    """Return the output of each class, in order. Raise `BackendError` if the labels are not these classes."""
    found = [_class_of(label, classes) for label in labels]
    if sorted(map(str, found)) != sorted(classes):
        raise _differ(labels, "; ".join(" or ".join((name, *others)) for name, others in classes.items()))
    return [found.index(name) for name in classes]


def meanings(labels: Sequence[str], classes: Classes) -> list[tuple[str, str]]:
    """Return each label with its class. The labels must be these classes (`columns`)."""
    return [(label, str(_class_of(label, classes))) for label in labels]


def tags(labels: Sequence[str]) -> list[Tag]:
    """Return the meaning of each label of words. Raise `BackendError` if they are not those of P, I and O."""
    prefixed = [_PREFIXED.fullmatch(label) for label in labels]
    outside = ("o", *OUTSIDE) if any(prefixed) else OUTSIDE
    meanings: list[Tag | None] = []
    for label, match in zip(labels, prefixed, strict=True):
        if match is None and _plain(label) in outside:
            meanings.append(Tag(None, False))
            continue
        kind: Any = _class_of(match[2] if match else label, ELEMENTS)
        # A mixture of both forms would make the label O ambiguous.
        is_known = kind is not None and bool(match) == any(prefixed)
        meanings.append(Tag(kind, match is not None and match[1] == "B") if is_known else None)
    known = [meaning for meaning in meanings if meaning]
    kinds = {meaning.kind for meaning in known}
    if len(known) < len(labels) or kinds != {None, *ELEMENTS} or len(set(known)) < len(known):
        raise _differ(
            labels,
            "P, I and O with one label for other words (none, N or 0), or B-P, I-P, B-I, I-I, B-O and I-O with O. The "
            "elements may also be named pop, int and out, or population, intervention and outcome",
        )
    return known


def _class_of(label: str, classes: Classes) -> str | None:
    plain = _plain(label)
    return next((name for name, others in classes.items() if plain in (_plain(name), *others)), None)


def _plain(label: str) -> str:
    return label.casefold().replace("-", " ").replace("_", " ").strip() or label


def _differ(labels: Sequence[str], expected: str) -> BackendError:
    return BackendError(
        f"The folder has the labels {', '.join(labels) or 'none'}. Expected: {expected}. Write them into id2label of "
        "config.json, in the order of the outputs."
    )
