"""Training of encoders with a head over sequences or words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer, set_seed

from ...backends import weights
from ...backends.protocol import BackendError
from ...trainers.protocol import Example, Parts
from ..encoders.heads import longest_of
from . import adapters, loop
from .collating import IGNORED, Padding
from .settings import LOSS, Listener, Result, Settings

_CLASSES = {"sequences": AutoModelForSequenceClassification, "tokens": AutoModelForTokenClassification}


def facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return hashes of the base model, libraries and threads. Raise `BackendError`."""
    hashes = weights.hashes(_folder(config))
    return {
        **{name: hashes[name] for name in ("commit", "weights", "tokenizer", "config")},
        "libraries": {**weights.libraries(), **adapters.libraries()},
        "device": "cuda" if torch.cuda.is_available() else "cpu",
        "threads": loop.threads(),
    }


def _folder(config: Mapping[str, Any]) -> weights.Folder:
    return weights.find(config["model"]["model"], config["model"].get("revision") or "main")


@dataclass(frozen=True)
class TrainedClassifier:
    """A trained encoder with its head and tokenizer."""

    model: Any
    tokenizer: Any
    result: Result

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def train(
    kind: str, labels: Sequence[str], config: Mapping[str, Any], parts: Parts, folder: Path, listener: Listener
) -> TrainedClassifier:
    """Train, and return the model with the best metric on the development part. Raise `TrainingError`."""
    path, training = _folder(config).path, config["training"]
    settings = Settings.of(training, seed=config["seed"])
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **weights.STRICT_OPTIONS)
    except weights.LOAD_ERRORS as wrong:
        raise BackendError(f"The tokenizer cannot be loaded: {weights.error_message(wrong, path)}") from wrong
    encode = _Encoding(kind, labels, tokenizer, longest_of(_load(kind, labels, path).config))
    task = loop.Task(
        make=lambda: adapters.with_lora(_seeded(kind, labels, path, settings), settings),
        examples=[encode(example) for example in parts.training],
        development=[encode(example) for example in parts.development],
        collate=Padding(tokenizer.pad_token_id),
        settings=settings,
        folder=folder,
        listener=listener,
        micro=training["micro"] or settings.batch,
        measure=None if settings.metric == LOSS else _f1(len(labels)),
        device="cuda" if torch.cuda.is_available() else "cpu",
    )
    model, result = loop.train(task)
    return TrainedClassifier(adapters.merged(model), tokenizer, result)


def _seeded(kind: str, labels: Sequence[str], path: Path, settings: Settings) -> Any:
    """Load the base model. A new head is drawn with the seed."""
    set_seed(settings.seed)
    return _load(kind, labels, path)


def _load(kind: str, labels: Sequence[str], path: Path) -> Any:
    weights.shards(path)
    try:
        model, report = _CLASSES[kind].from_pretrained(
            path,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: n for n, label in enumerate(labels)},
            use_safetensors=True,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            **weights.STRICT_OPTIONS,
        )
    except weights.LOAD_ERRORS as wrong:
        raise BackendError(f"The encoder cannot be loaded: {weights.error_message(wrong, path)}") from wrong
    encoder = f"{model.base_model_prefix}."
    missing = [*report["missing_keys"], *(key[0] for key in report["mismatched_keys"])]
    # BERT's pooler belongs to the head: encoders are saved without one.
    if lacking := sorted(key for key in missing if key.startswith(encoder) and ".pooler." not in key):
        raise BackendError(f"The weights lack {lacking[0]}, which would be random.")
    return model


class _Encoding:
    """Token ids and labels of an example. Long texts are truncated."""

    def __init__(self, kind: str, labels: Sequence[str], tokenizer: Any, longest: int) -> None:
        self.kind, self.tokenizer, self.longest = kind, tokenizer, longest
        self.number = {label: n for n, label in enumerate(labels)}

    def __call__(self, example: Example) -> dict[str, Any]:
        content = example.content
        if self.kind == "tokens":
            return self._words(content)
        query = content.get("query")
        separator = str(self.tokenizer.sep_token or "")
        texts = [" ".join(filter(None, (query[0], separator, query[1])))] if query else []
        ids = self.tokenizer(
            *texts, content["text"], truncation="longest_first", max_length=self.longest, verbose=False
        ).input_ids
        return {"input_ids": ids, "labels": self.number[content["label"]]}

    def _words(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Label the first token of each word. Of spans that share a word, the shortest counts."""
        coded = self.tokenizer(
            content["text"], truncation=True, max_length=self.longest, return_offsets_mapping=True, verbose=False
        )
        spans = sorted(content["spans"], key=lambda span: (span["end"] - span["start"], span["start"]))
        labels, known, current = [], set(), None
        for word, (start, end) in zip(coded.word_ids(), coded.offset_mapping, strict=True):
            if word is None or word in known or start >= end:
                labels.append(IGNORED)
                continue
            known.add(word)
            span = next((each for each in spans if each["start"] < end and start < each["end"]), None)
            if span is None:
                labels.append(self.number["O"])
            else:
                position = "I" if span is current else "B"
                labels.append(self.number[f"{position}-{span['element'].upper()}"])
            current = span
        return {"input_ids": coded.input_ids, "labels": labels}


def _f1(size: int) -> loop.Measure:
    """Return a function that computes the mean F1 of labels that occur in labels or predictions."""

    def measure(prediction: Any) -> dict[str, float]:
        given = np.asarray(prediction.predictions).argmax(axis=-1).reshape(-1)
        people = np.asarray(prediction.label_ids).reshape(-1)
        given, people = given[people != IGNORED], people[people != IGNORED]
        scores = []
        for label in range(size):
            both = int(((given == label) & (people == label)).sum())
            either = int((given == label).sum()) + int((people == label).sum())
            if either:
                scores.append(2 * both / either)
        return {"f1": sum(scores) / len(scores) if scores else 0.0}

    return measure
