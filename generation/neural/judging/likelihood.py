"""How likely a model finds texts given a source: the probe's half of every neural backend.

The loss that transformers returns is not it: that is a mean over the tokens of a whole batch, padding kept out only
where labels say -100. Here each token of each text has its own value, in nats.
"""

import logging
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from ...backends.protocol import Failure, Likelihood, Probed, ProbedUnit
from ..batches import Batching, Limits, Memory, run
from . import teacher_forcing
from .prefix_tree import Tree
from .teacher_forcing import Nll

logger = logging.getLogger(__name__)
S = TypeVar("S")
W = TypeVar("W")
Decode = Callable[[Any, Tensor, Tensor, Sequence[Tree]], list[Nll]]
Continue = Callable[[Any, Sequence[Sequence[int]], Sequence[Tree]], list[Nll]]

#: Tokens in a pass, those of sources and of trees together. Every token of a tree has logits over the vocabulary in
#: fp32: more would gain nothing on a CPU, and half of a GPU's memory is theirs.
TOKENS = {"cpu": 2_048, "cuda": 32_768}
#: What counts as equal when two ways are compared: rounding in fp32 stays below it even where logits are large, and a
#: wrong position or mask does not.
CLOSE = {"rtol": 1e-4, "atol": 2e-4}


class Unscorable(ValueError):
    """An item whose texts have no likelihood under this model, and why, in words."""


@dataclass(frozen=True)
class Judged(Generic[S]):
    """One item made ready. ``source`` is what is encoded, or the prompt, of ``length`` tokens; only items of one
    ``group`` may share a batch; ``special`` has one flag a token, as ``tree.texts``."""

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
    items: Sequence[Probed], *, ready: Callable[[Probed], Judged[S]], judge: Callable[[list[Judged[S]]], list[Nll]],
    device: str, memory: Memory, limits: Limits, weights: str,
) -> Iterator[list[ProbedUnit | Failure]]:  # fmt: skip
    """Make items ready, judge them in batches of like length, and yield each batch as it is done.

    An item that cannot be made ready, or fails alone, is a `Failure`; running out of memory halves the batch.
    """
    waiting: list[Judged[S]] = []
    failed: list[ProbedUnit | Failure] = []
    for item in items:
        try:
            waiting.append(ready(item))
        except Unscorable as wrong:
            failed.append(Failure(item.source.unit, str(wrong)))
    if failed:
        yield failed
    batching = Batching[Judged[S]](
        length=lambda item: item.tokens, tokens=TOKENS[device], group=lambda item: item.group
    )  # fmt: skip
    # Sizes that held for summarising in a narrower format, without logits of every token, say nothing here.
    for batch in run(waiting, judge, batching=batching, memory=memory, limits=limits, weights=f"probe {weights}"):
        yield [_unit(item, found) for item, found in batch]


def _unit(item: Judged[Any], found: Nll | Exception) -> ProbedUnit | Failure:
    if isinstance(found, Exception):
        return Failure(item.unit, f"{type(found).__name__}: {found}"[:500])
    if not all(math.isfinite(value) for text in found for value in text):
        return Failure(item.unit, "The model gives a token no number for its likelihood: its weights overflow.")
    return ProbedUnit(item.unit, tuple(
        Likelihood(tuple(text), tuple(nll), tuple(special))
        for text, nll, special in zip(item.tree.texts, found, item.special, strict=True)
    ))  # fmt: skip


def labels(
    tokenizer: Any, texts: Sequence[str], *, start: int, longest: int | None, newline: str = ""
) -> tuple[list[list[int]], list[list[bool]]]:
    """Token ids that a decoder which begins with ``start`` must predict, and which of them are special.

    BART's labels include ``<s>`` and ``</s>``, PEGASUS's and T5's only ``</s>``; where the decoder starts from
    ``<s>`` (MS^2), that token is given and not predicted. Raises `Unscorable` for a blank text and for one that is
    longer than the decoder reads: a text that was cut would be another text.
    """
    found: tuple[list[list[int]], list[list[bool]]] = ([], [])
    for text in texts:
        filled = text.replace("\n", newline) if newline else text
        coded = tokenizer(text_target=filled, return_special_tokens_mask=True, truncation=False, verbose=False)
        ids, special = coded["input_ids"], [bool(flag) for flag in coded["special_tokens_mask"]]
        if all(special):
            raise Unscorable("A text is empty: it has no tokens to be likely.")
        if ids[0] == start and special[0]:
            ids, special = ids[1:], special[1:]
        fits(len(ids), longest)
        found[0].append(ids)
        found[1].append(special)
    return found


def fits(tokens: int, longest: int | None) -> None:
    if longest is not None and tokens > longest:
        raise Unscorable(f"A text has {tokens} tokens; the model takes at most {longest}.")


def decoding(model: Any) -> Decode:
    """The quickest way that is exact for this encoder-decoder: trees, else one row a text. Tried on made-up states."""
    chance = torch.Generator().manual_seed(0)
    states = torch.randn(2, 5, model.config.hidden_size, generator=chance).to(model.device, model.dtype)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], device=model.device)
    quick: tuple[Decode, ...] = (teacher_forcing.by_trees, partial(teacher_forcing.by_trees, whole=True))
    if model.device.type == "cpu":
        # On a GPU, padding costs little and many small attentions much.
        quick = (teacher_forcing.by_trees_in_line, *quick)
    plain: Decode = teacher_forcing.by_rows
    return _first_exact(quick, plain, lambda way: way(model, states, mask, _made_up(model)))


def continuing(model: Any) -> Continue:
    """The quickest way that is exact for this causal model: a prompt read once, else with each text.

    A model that looks back through a window, or in chunks, shows it only beyond them, so its configuration decides.
    """
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    windowed = kinds != {"full_attention"} or (
        getattr(config, "layer_types", None) is None and getattr(config, "sliding_window", None) is not None
    )
    prompts = [[7, 8, 9, 10], [11, 12]]
    trees: tuple[Continue, ...] = (
        teacher_forcing.by_prompt_and_trees,
        partial(teacher_forcing.by_prompt_and_trees, whole=True),
    )
    plain: Continue = teacher_forcing.by_prompt_rows
    return _first_exact(() if windowed else trees, plain, lambda way: way(model, prompts, _made_up(model)))


def _made_up(model: Any) -> list[Tree]:
    """Texts that part and differ in length, of tokens that any vocabulary has."""
    most = model.get_output_embeddings().weight.shape[0] - 1
    texts = [[5, 6, 7, 8, 9], [5, 6, 10, 8], [5, 6, 10, 11, 8, 9, 7]], [[12, 13], [6, 5, 13], [6, 5, 13, 12]]
    return [Tree(4, [[min(token, most) for token in text] for text in group]) for group in texts]


def _first_exact(quick: Sequence[W], plain: W, tried: Callable[[W], list[Nll]]) -> W:
    """The first of the quick ways that gives what the plain one gives; some cannot be gone at all with a model."""
    with torch.inference_mode():
        expected = _flat(tried(plain))
        for way in quick:
            try:
                found = _flat(tried(way))
            except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as wrong:
                if isinstance(wrong, torch.OutOfMemoryError):
                    raise
                logger.info("A quicker way to judge texts cannot be gone: %s", wrong)
                continue
            if torch.allclose(found, expected, **CLOSE):
                return way
    if quick:
        logger.warning("Texts are judged one row each, which is slower: the quicker ways are not exact here.")
    return plain


def _flat(found: list[Nll]) -> Tensor:
    return torch.tensor([value for item in found for text in item for value in text])
