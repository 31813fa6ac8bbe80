"""Classify texts, pairs of texts, and the words of texts with a local folder, in batches that fit into memory."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from ...backends.protocol import BackendError
from ..batches import Batching, Limits, run
from ..checkpoints.loading import MEMORY
from . import heads

#: Tokens per batch, including padding.
TOKENS = {"cpu": 4_096, "cuda": 65_536}
#: Tokens that two neighbouring windows of a long text share.
STRIDE = 64

#: Probabilities in the order of the model's labels.
Probabilities = list[float]
#: Half-open range of code points, and the index of the most probable label.
Word = tuple[int, int, int]
Encoded = dict[str, list[int]]


class Reader:
    """A loaded folder. Results have the order of the inputs; an input that fails has an exception instead."""

    def __init__(self, path: Path, kind: str) -> None:
        """Load a folder. ``kind``: tokens or sequences. Raise `BackendError`."""
        self._head = heads.load(path, kind)
        self.tokenizer, self.longest = self._head.tokenizer, self._head.longest
        if kind == "tokens" and not self.tokenizer.is_fast:
            raise BackendError("The tokenizer does not give the positions of words: save it as a fast tokenizer.")
        self._limits = Limits()

    @property
    def separator(self) -> str:
        return str(self.tokenizer.sep_token or "")

    def classify(self, items: Sequence[tuple[str, str]]) -> list[Probabilities | Exception]:
        """Classify texts or pairs of texts (the second is empty for a single text). Long ones are truncated."""
        encoded = [
            dict(self.tokenizer(*filter(None, item), truncation="longest_first", max_length=self.longest))
            for item in items
        ]
        return self._run(encoded, lambda logits, _: logits)

    def classify_sentences(self, texts: Sequence[Sequence[str]]) -> list[list[Probabilities] | Exception]:
        """Classify the sentences of each text at their separators, as MS^2's model does.

        As many sentences as fit are one input, each followed by the separator.
        """
        first, last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        if first is None or last is None:
            raise BackendError("The tokenizer has no separator, at which a sentence would be classified.")
        inputs: list[Encoded] = []
        numbers: list[list[int]] = []
        for sentences in texts:
            ids: list[int] = []
            numbers.append([])
            for sentence in sentences:
                own = self.tokenizer(sentence, add_special_tokens=False, truncation=True, max_length=self.longest - 2)
                following = [token for token in own["input_ids"] if token != last] + [last]
                if not ids or len(ids) + len(following) > self.longest:
                    ids = [first]
                    inputs.append({"input_ids": ids})
                    numbers[-1].append(len(inputs) - 1)
                ids += following
        inputs = [{"input_ids": each["input_ids"], "attention_mask": [1] * len(each["input_ids"])} for each in inputs]
        results = self._run(inputs, lambda logits, ids: logits[ids == last])
        return [_joined([results[number] for number in of]) for of in numbers]

    def tag(self, texts: Sequence[str]) -> list[list[Word] | Exception]:
        """Return the words of each text with their labels: those of a word's first token.

        A long text is divided into windows that overlap. A word counts where it is farthest from the window's ends.
        """
        encoded = self.tokenizer(
            list(texts),
            truncation=True,
            max_length=self.longest,
            stride=min(STRIDE, self.longest // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        inputs = [
            {"input_ids": ids, "attention_mask": mask}
            for ids, mask in zip(encoded["input_ids"], encoded["attention_mask"], strict=True)
        ]
        results = self._run(inputs, lambda logits, _: logits.argmax(dim=-1))
        found: list[dict[int, tuple[int, int, int, int]]] = [{} for _ in texts]
        failed: dict[int, Exception] = {}
        for window, (of, labels) in enumerate(zip(encoded["overflow_to_sample_mapping"], results, strict=True)):
            if isinstance(labels, Exception):
                failed[of] = labels
                continue
            for word, (start, end, label, margin) in _window(
                encoded.word_ids(window), encoded["offset_mapping"][window], labels
            ):
                known = found[of].get(word)
                if known is None or start < known[0] or (start == known[0] and margin > known[3]):
                    found[of][word] = (start, max(end, known[1] if known else 0), label, margin)
                elif end > known[1]:
                    found[of][word] = (known[0], end, *known[2:])
        return [failed.get(n) or sorted((s, e, label) for s, e, label, _ in of.values()) for n, of in enumerate(found)]

    def _run(self, inputs: Sequence[Encoded], pick: Callable[[Any, Any], Any]) -> list[Any]:
        """Return the picked probabilities of each input as lists, or the exception that it caused."""
        device = self._head.model.device
        batching = Batching[int](length=lambda n: len(inputs[n]["input_ids"]), tokens=TOKENS[device.type])

        def do(numbers: list[int]) -> list[Any]:
            padded = self.tokenizer.pad([inputs[n] for n in numbers], return_tensors="pt").to(device)
            with torch.inference_mode():
                shares = self._head.model(**padded).logits.float().softmax(dim=-1)
            if shares.dim() == 2:
                return [row.tolist() for row in shares.cpu()]
            lengths = [len(inputs[n]["input_ids"]) for n in numbers]
            padding_left = self.tokenizer.padding_side == "left"
            rows = (
                (row[-length:], ids[-length:]) if padding_left else (row[:length], ids[:length])
                for row, ids, length in zip(shares.cpu(), padded["input_ids"].cpu(), lengths, strict=True)
            )
            return [pick(row, ids).tolist() for row, ids in rows]

        results: dict[int, Any] = {}
        numbers = list(range(len(inputs)))
        for batch in run(numbers, do, batching=batching, memory=MEMORY, limits=self._limits, weights="reader"):
            results |= batch
        return [results[n] for n in numbers]


def _joined(parts: Sequence[list[Probabilities] | Exception]) -> list[Probabilities] | Exception:
    joined: list[Probabilities] = []
    for part in parts:
        if isinstance(part, Exception):
            return part
        joined += part
    return joined


def _window(
    words: Sequence[int | None], offsets: Sequence[tuple[int, int]], labels: Sequence[int]
) -> Iterator[tuple[int, tuple[int, int, int, int]]]:
    """Yield each token of a word: the word, its start, end and label, and its distance from the window's ends."""
    for position, (word, (start, end), label) in enumerate(zip(words, offsets, labels, strict=True)):
        if word is not None and start < end:
            yield word, (start, end, label, min(position, len(labels) - position))
