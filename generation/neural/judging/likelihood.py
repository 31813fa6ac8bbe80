"""Likelihoods of texts given a source: the probe implementation of the neural backends.

The loss returned by transformers does not serve: it is a mean over the tokens of a batch, and excludes padding only
where labels are -100. This module returns one value per token of each text, in nats.
"""

import logging
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from generation.backends.assembly import Unreadable
from generation.backends.protocol import Failure, Likelihood, Probed, ProbedUnit, Source
from generation.neural.batches import Batching, Limits, Memory, run
from generation.neural.checkpoints.families import Family
from generation.neural.inputs.reading import Read
from generation.neural.judging import teacher_forcing
from generation.neural.judging.prefix_tree import Tree
from generation.neural.judging.teacher_forcing import Nll

logger = logging.getLogger(__name__)
S = TypeVar("S")
W = TypeVar("W")
Decode = Callable[[Any, Tensor, Tensor, Sequence[Tree]], list[Nll]]
Continue = Callable[[Any, Sequence[Sequence[int]], Sequence[Tree]], list[Nll]]

#: Tokens per pass, of sources and trees together. Every tree token has fp32 logits over the vocabulary. A larger value
#: gains nothing on a CPU, and on a GPU the logits already take half of the memory.
TOKENS = {"cpu": 2_048, "cuda": 32_768}
#: Tolerance for comparing two methods. Rounding in fp32 stays below it even for large logits; a wrong position or mask
#: does not.
TOLERANCE = {"rtol": 1e-4, "atol": 2e-4}


class Unscorable(ValueError):
    """The texts of an item have no likelihood under this model. The message states the reason."""


@dataclass(frozen=True)
class Judged(Generic[S]):
    """A prepared item.

    ``source`` is the encoder input or the prompt, of ``length`` tokens. Only items of one ``group`` may share a batch.
    ``special`` has one flag per token, as in ``tree.texts``.
    """

    unit: int
    source: S
    length: int
    tree: Tree
    special: Sequence[Sequence[bool]]
    group: Hashable = 0

    @property
    def tokens(self) -> int:
        return self.length + len(self.tree)


def probe(
    items: Sequence[Probed],
    *,
    ready: Callable[[Probed], Judged[S]],
    judge: Callable[[list[Judged[S]]], list[Nll]],
    device: str,
    memory: Memory,
    limits: Limits,
    weights: str,
) -> Iterator[list[ProbedUnit | Failure]]:
    """Prepare items, judge them in batches of similar length, and yield each batch when it is done.

    An item that cannot be prepared, or fails alone, becomes a `Failure`. Running out of memory halves the batch.
    """
    prepared: list[Judged[S]] = []
    failed: list[ProbedUnit | Failure] = []
    for item in items:
        try:
            prepared.append(ready(item))
        except Unscorable as error:
            failed.append(Failure(item.source.unit, str(error)))
    if failed:
        yield failed
    batching = Batching[Judged[S]](
        length=lambda item: item.tokens, tokens=TOKENS[device], group=lambda item: item.group
    )
    # Batch sizes that fit for summarising do not apply: it uses a narrower format and no logits of every token.
    for batch in run(prepared, judge, batching=batching, memory=memory, limits=limits, weights=f"probe {weights}"):
        yield [_unit(item, result) for item, result in batch]


def _unit(item: Judged[Any], result: Nll | Exception) -> ProbedUnit | Failure:
    if isinstance(result, Exception):
        return Failure(item.unit, f"{type(result).__name__}: {result}"[:500])
    if not all(math.isfinite(value) for text in result for value in text):
        return Failure(item.unit, "The likelihood of a token is not finite: the weights overflow.")
    return ProbedUnit(
        item.unit,
        tuple(
            Likelihood(tuple(text), tuple(nll), tuple(special))
            for text, nll, special in zip(item.tree.texts, result, item.special, strict=True)
        ),
    )


def labels(
    tokenizer: Any, texts: Sequence[str], *, start: int, longest: int | None, newline: str = ""
) -> tuple[list[list[int]], list[list[bool]]]:
    """Return the token ids that a decoder starting with ``start`` must predict, and flags for special tokens.

    BART labels include ``<s>`` and ``</s>``; PEGASUS and T5 labels include only ``</s>``. If the decoder starts from
    ``<s>`` (MS^2), that token is given and not predicted. Raise `Unscorable` for a blank text, and for one longer than
    the decoder's maximum, because a truncated text would be a different text.
    """
    result: tuple[list[list[int]], list[list[bool]]] = ([], [])
    for text in texts:
        filled = text.replace("\n", newline) if newline else text
        coded = tokenizer(text_target=filled, return_special_tokens_mask=True, truncation=False, verbose=False)
        ids, special = coded["input_ids"], [bool(flag) for flag in coded["special_tokens_mask"]]
        if all(special):
            raise Unscorable("A text is empty, so it has no likelihood.")
        if ids[0] == start and special[0]:
            ids, special = ids[1:], special[1:]
        check_length(len(ids), longest)
        result[0].append(ids)
        result[1].append(special)
    return result


def check_length(tokens: int, longest: int | None) -> None:
    if longest is not None and tokens > longest:
        raise Unscorable(f"A text has {tokens} tokens; the model accepts at most {longest}.")


def decoding(model: Any) -> Decode:
    """Return the fastest method that is exact for this encoder-decoder, tested on random states.

    The candidates are prefix trees, and one row per text as the fallback.
    """
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(2, 5, model.config.hidden_size, generator=generator).to(model.device, model.dtype)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], device=model.device)
    fast: tuple[Decode, ...] = (teacher_forcing.by_trees, partial(teacher_forcing.by_trees, whole=True))
    if model.device.type == "cpu":
        # On a GPU, padding costs little and many small attention calls cost much.
        fast = (teacher_forcing.by_trees_in_line, *fast)
    plain: Decode = teacher_forcing.by_rows
    return _first_exact(fast, plain, lambda method: method(model, states, mask, _test_trees(model)))


def choose_continuation(model: Any) -> Continue:
    """Return the fastest method that is exact for this causal model.

    The candidates encode a prompt once, or once per text as the fallback. Sliding-window or chunked attention differs
    only beyond the window, which a small test would not detect, so the configuration decides.
    """
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    is_windowed = kinds != {"full_attention"} or (
        getattr(config, "layer_types", None) is None and getattr(config, "sliding_window", None) is not None
    )
    prompts = [[7, 8, 9, 10], [11, 12]]
    trees: tuple[Continue, ...] = (
        teacher_forcing.by_prompt_and_trees,
        partial(teacher_forcing.by_prompt_and_trees, whole=True),
    )
    plain: Continue = teacher_forcing.by_prompt_rows
    return _first_exact(() if is_windowed else trees, plain, lambda method: method(model, prompts, _test_trees(model)))


def _test_trees(model: Any) -> list[Tree]:
    """Return test texts that branch and differ in length, with token ids that exist in any vocabulary."""
    largest = model.get_output_embeddings().weight.shape[0] - 1
    texts = [[5, 6, 7, 8, 9], [5, 6, 10, 8], [5, 6, 10, 11, 8, 9, 7]], [[12, 13], [6, 5, 13], [6, 5, 13, 12]]
    return [Tree(4, [[min(token, largest) for token in text] for text in group]) for group in texts]


def _first_exact(fast: Sequence[W], plain: W, judge: Callable[[W], list[Nll]]) -> W:
    """Return the first fast method whose results equal those of the plain one. Some methods fail with some models."""
    with torch.inference_mode():
        expected = _flatten(judge(plain))
        for method in fast:
            try:
                values = _flatten(judge(method))
            except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
                if isinstance(error, torch.OutOfMemoryError):
                    raise
                logger.info("A faster likelihood method does not support this model: %s", error)
                continue
            if torch.allclose(values, expected, **TOLERANCE):
                return method
    if fast:
        logger.warning("Likelihoods are computed one text per row, which is slower: faster methods are not exact here.")
    return plain


def _flatten(nlls: list[Nll]) -> Tensor:
    return torch.tensor([value for item in nlls for text in item for value in text])


class Encoding(Protocol):
    """The interface of a loaded summariser that the probe uses."""

    model: Any
    loaded: Any
    settings: Any
    family: Family
    device: torch.device
    memory: Memory
    limits: Limits
    weights: str
    longest: int | None

    def read(self, source: Source) -> Read: ...

    def encode(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]: ...

    def close(self) -> None: ...


class Probe:
    """Judges texts with float32 weights, because small differences would be lost in lower precision."""

    def __init__(self, summariser: Encoding) -> None:
        self.summariser = summariser
        self.decode = decoding(summariser.model)

    def __call__(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        summariser = self.summariser
        return probe(
            items,
            ready=self.ready,
            judge=self.judge,
            device=summariser.device.type,
            memory=summariser.memory,
            limits=summariser.limits,
            weights=summariser.weights,
        )

    def ready(self, item: Probed) -> Judged[Read]:
        summariser, start = self.summariser, self.summariser.settings.decoder_start_token_id
        try:
            read = summariser.read(item.source)
        except Unreadable as error:
            raise Unscorable(str(error)) from error
        ids, special = labels(
            summariser.loaded.tokenizer,
            item.texts,
            start=start,
            longest=summariser.longest,
            newline=summariser.family.newline,
        )
        return Judged(item.source.unit, read, read.tokens, Tree(start, ids), special)

    def judge(self, batch: list[Judged[Read]]) -> list[Nll]:
        with torch.inference_mode():
            states, mask = self.summariser.encode([judged.source for judged in batch])
            return self.decode(self.summariser.model, states, mask, [judged.tree for judged in batch])
