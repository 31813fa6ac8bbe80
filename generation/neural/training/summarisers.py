"""Training of encoder-decoders: the inputs that their version reads, and the targets as labels."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import set_seed
from transformers.modeling_outputs import BaseModelOutput

from measures.rouge import RougeKind, rouge

from ...backends import weights
from ...backends.assembly import AS_MS2, markers_of
from ...trainers.protocol import Example, Parts
from ..checkpoints import loading
from ..inputs.reading import Reader
from ..summarisers import seq2seq
from ..writing.decoding import configuration
from . import adapters, loop
from .collating import IGNORED, Padding
from .settings import LOSS, Listener, Result, Settings

KIND = "seq2seq"
KINDS: tuple[RougeKind, ...] = ("rouge1", "rouge2", "rougeL")


def facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of the base model, in the number format in which weights are trained. Raise `BackendError`."""
    base = _facts(_in_float32(config["version"]))
    return {**base, "libraries": {**base["libraries"], **adapters.libraries()}, "threads": loop.threads()}


def _in_float32(version: Mapping[str, Any]) -> dict[str, Any]:
    return {**version, "model": {**version["model"], "dtype": "float32"}}


def _facts(version: Mapping[str, Any]) -> dict[str, Any]:
    """Return `seq2seq.facts` of a base model, whose tokenizer may lack MS^2's markers: training adds them."""
    assembly = {**version["assembly"], "markers": "none", "full_attention": "auto"}
    return seq2seq.facts({**version, "assembly": assembly})


@dataclass(frozen=True)
class TrainedSummariser:
    """A trained encoder-decoder with the files of its tokenizer. ``tokenizer``: None if it is that of the base."""

    model: Any
    base: Path
    result: Result
    tokenizer: Any = None

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        if self.tokenizer is not None:
            self.tokenizer.save_pretrained(folder)
        for name in (*weights.TOKENIZER_FILES, "generation_config.json"):
            if (self.base / name).is_file() and not (folder / name).is_file():
                shutil.copyfile(self.base / name, folder / name)


def train(config: Mapping[str, Any], parts: Parts, folder: Path, listener: Listener) -> TrainedSummariser:
    """Train, and return the model with the best metric on the development part. Raise `TrainingError`."""
    version, training = _in_float32(config["version"]), config["training"]
    recorded = _facts(version)
    settings = Settings.of(training, seed=version["seed"])
    is_separate = version["backend"] == "multi_encode"
    apart = partial(_call_separately, masks=version["assembly"].get("masking") != AS_MS2)

    def load() -> loading.LoadedModel:
        set_seed(settings.seed)
        return loading.load(version, recorded, KIND)

    loaded = load()
    family, tokenizer = loaded.family, loaded.tokenizer
    markers = [marker for marker in markers_of(version) if marker not in tokenizer.get_vocab()]
    tokenizer.add_tokens(markers, special_tokens=True)
    reader = Reader(tokenizer, family, loaded.model.config, version)
    start = recorded["decoding"]["decoder_start_token_id"]
    # A target cannot be longer than the decoder has positions.
    most = min(training["target_tokens"], seq2seq.positions(loaded.model.config) or training["target_tokens"])
    encode = _Encoding(reader, tokenizer, most, is_separate, family.global_attention, start)
    padding = Padding(
        tokenizer.pad_token_id, multiple=family.padding(loaded.model.config), attends=family.global_attention
    )
    generates = settings.metric != LOSS
    decoding = configuration(recorded["decoding"]) if generates else None

    def make() -> Any:
        model = load().model.train()
        model.config.decoder_start_token_id = start
        if markers and len(tokenizer) > len(model.get_input_embeddings().weight):
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        if decoding:
            model.generation_config = decoding
        return adapters.with_lora(model, settings)

    loaded.close()
    task = loop.Task(
        make=make,
        examples=[encode(example) for example in parts.training],
        development=[encode(example) for example in parts.development],
        collate=_separated(padding) if is_separate else padding,
        settings=settings,
        folder=folder,
        listener=listener,
        micro=training["micro"] or settings.batch,
        call=apart if is_separate else loop.call,
        measure=_rouge(tokenizer) if generates else None,
        generation={"max_length": decoding.max_length, "num_beams": decoding.num_beams} if decoding else None,
        device=recorded["device"],
    )
    model, result = loop.train(task)
    base = weights.find(version["model"]["model"], version["model"].get("revision") or "main").path
    return TrainedSummariser(adapters.merged(model), base, result, tokenizer if markers else None)


class _Encoding:
    """Token ids of an example, exactly as the summariser will read it, and labels of its target."""

    def __init__(self, reader: Reader, tokenizer: Any, most: int, is_separate: bool, attends: bool, start: int) -> None:
        self.reader, self.tokenizer, self.most = reader, tokenizer, most
        self.is_separate, self.attends, self.start = is_separate, attends, start

    def __call__(self, example: Example) -> dict[str, Any]:
        source = example.content["source"]
        read = self.reader.apart(source) if self.is_separate else self.reader.joined(source)
        target = example.content["target"]
        labels = self.tokenizer(text_target=target, truncation=True, max_length=self.most, verbose=False).input_ids
        if labels[:1] == [self.start]:
            # The decoder is given this token first; it does not have to write it.
            labels = labels[1:]
        encoded: dict[str, Any] = {"input_ids": list(read.rows[0]), "labels": list(labels)}
        if self.is_separate:
            encoded["rows"] = [list(row) for row in read.rows]
        if self.attends:
            marks = [n for n, token in enumerate(read.rows[0]) if token == self.reader.mark] if self.reader.mark else []
            encoded["global"] = sorted({*range(read.head), *marks})
        return encoded


def _separated(padding: Padding) -> Callable[[list[dict[str, Any]]], dict[str, Tensor]]:
    """Return a collator for units of several rows. ``rows``: the number of rows of each unit."""

    def collate(examples: list[dict[str, Any]]) -> dict[str, Tensor]:
        flat = [{"input_ids": row, "labels": 0} for example in examples for row in example["rows"]]
        batch = padding(flat)
        labels = padding([{"input_ids": [0], "labels": example["labels"]} for example in examples])["labels"]
        return {**batch, "labels": labels, "rows": torch.tensor([len(example["rows"]) for example in examples])}

    return collate


def _call_separately(model: Any, inputs: dict[str, Any], *, masks: bool = True) -> Any:
    """Encode each row separately, and decode once over the states of all rows of a unit, as MS^2's BART does.

    Without ``masks``, the encoder reads the padding to the longest row of a unit, as the version will.
    """
    rows, mask, encoder = inputs["rows"].tolist(), inputs["attention_mask"], model.get_encoder()
    if masks:
        states = encoder(input_ids=inputs["input_ids"], attention_mask=mask).last_hidden_state
        units = [own[kept.bool()] for own, kept in zip(states.split(rows), mask.split(rows), strict=True)]
    else:
        units = []
        for ids, kept in zip(inputs["input_ids"].split(rows), mask.split(rows), strict=True):
            longest = int(kept.sum(dim=1).max())
            states = encoder(input_ids=ids[:, :longest]).last_hidden_state
            units.append(states[kept[:, :longest].bool()])
    joined = pad_sequence(units, batch_first=True)
    ones = pad_sequence([mask.new_ones(len(unit)) for unit in units], batch_first=True)
    return model(
        encoder_outputs=BaseModelOutput(last_hidden_state=joined), attention_mask=ones, labels=inputs["labels"]
    )


def _rouge(tokenizer: Any) -> loop.Measure:
    """Return a function that computes ROUGE F1 (mean over units) of generated tokens."""

    def measure(prediction: Any) -> dict[str, float]:
        texts, targets = (_texts(tokenizer, rows) for rows in (prediction.predictions, prediction.label_ids))
        scores = [rouge(text, target, kinds=KINDS) for text, target in zip(texts, targets, strict=True)]
        # A target without words has no ROUGE; it counts as 0, so that all steps have the same units.
        return {kind: sum(score[kind].f1 or 0.0 for score in scores) / len(scores) for kind in KINDS}

    return measure


def _texts(tokenizer: Any, rows: Any) -> Sequence[str]:
    kept = [[int(token) for token in row if token not in (IGNORED, tokenizer.pad_token_id)] for row in rows]
    texts: list[str] = tokenizer.batch_decode(kept, skip_special_tokens=True)
    return texts
