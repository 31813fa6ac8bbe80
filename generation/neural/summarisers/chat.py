"""A loaded chat model: prompts cut to its window, replies in left-padded batches, and likelihoods of replies."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import torch
from transformers import GenerationConfig

from ...backends.assembly import assemble, cut, fill, shares
from ...backends.protocol import BackendError, Config, Facts, Failure, Finish, Output, Probed, ProbedUnit, Source
from ..batches import Batching, Limits, run
from ..checkpoints import loading
from ..inputs.chat_template import Frame, Turns, frame_of
from ..judging import likelihood
from ..judging.likelihood import Judged, Unscorable
from ..judging.prefix_tree import Tree
from ..judging.teacher_forcing import Nll

#: Tokens per batch, of prompts and replies, including padding and beams.
TOKENS = {"cpu": 8_192, "cuda": 131_072}
_TURNS = "turns"


def facts(config: Config) -> dict[str, Any]:
    """Return the facts of a configuration, including the frame of its turns. Raise `BackendError`."""
    model_facts = loading.facts(config, "causal")
    plain = config["model"].get("turns") == "plain"
    return {
        **model_facts,
        _TURNS: frame_of(loading.tokenizer(config), config["prompt"]["system"], plain=plain).as_facts(),
    }


def load(config: Config, recorded: Facts) -> "Chat":
    """Load a version. Raise `BackendError` if its facts have changed or the window is too small."""
    return Chat(config, recorded)


@dataclass(frozen=True)
class Prompt:
    """The prompt of one unit. ``cut`` counts the document tokens that did not fit."""

    source: Source
    ids: tuple[int, ...]
    cut: int


class Chat:
    """A loaded version (`Summariser`)."""

    def __init__(self, config: Config, facts: Facts) -> None:
        self.config = config
        # Use the recorded frame, because the template may render differently today.
        self.recorded = {name: value for name, value in facts.items() if name != _TURNS}
        self.loaded = loading.load(config, self.recorded, "causal")
        self.turns = Turns(self.loaded.tokenizer, Frame(**facts[_TURNS]))
        self.limits = Limits()
        self.name = str(config["model"]["model"])
        decoding = config["decoding"]
        self.generation = _generation(decoding, self.loaded.generation, self.turns)
        self.window = _window(self.loaded.model.config)
        self.most = min(
            (
                n
                for n in (
                    config["assembly"].get("input_tokens"),
                    self.window - decoding["max_new_tokens"] if self.window else None,
                )
                if n is not None
            ),
            default=None,
        )
        if self.most is not None and self.most < 1:
            self.close()
            raise BackendError(
                f"{decoding['max_new_tokens']} new tokens leave no room for a prompt in the model's window of "
                f"{self.window}."
            )

    # Summaries

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        prompts: list[Prompt] = []
        failed: list[Output | Failure] = []
        for source in sources:
            try:
                prompts.append(self.prompt(source))
            except ValueError as error:
                failed.append(Failure(source.unit, str(error)))
        if failed:
            yield failed
        width = self.generation.num_beams or 1
        batching = Batching[Prompt](
            length=lambda prompt: (len(prompt.ids) + self.generation.max_new_tokens) * width,
            tokens=TOKENS[self.loaded.device.type],
            # With sampling, the result for one unit must not depend on the other units of its batch.
            items=1 if self.generation.do_sample else 256,
        )
        for batch in run(
            prompts, self._reply, batching=batching, memory=loading.MEMORY, limits=self.limits, weights=self.name
        ):
            yield [
                result
                if isinstance(result, Output)
                else Failure(prompt.source.unit, f"{type(result).__name__}: {result}")
                for prompt, result in batch
            ]

    def prompt(self, source: Source) -> Prompt:
        """Return the prompt of a unit. Documents are cut to fit; the instruction never is.

        Raise ValueError if the instruction, with background and question, is too long.
        """
        section = self.config["assembly"]
        documents = assemble(source, section, seed=self.config["seed"]).documents
        offsets = [
            self.loaded.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
                "offset_mapping"
            ]
            for text in documents
        ]
        lengths = [len(tokens) for tokens in offsets]
        kept, equal = lengths, section["budget"] == "equal shares"
        while True:
            inputs = section["separator"].join(words for words in map(cut, documents, offsets, kept) if words)
            ids = self.turns.ids(fill(self.config["prompt"]["template"], source, inputs))
            excess = len(ids) - self.most if self.most is not None else 0
            if excess <= 0:
                return Prompt(source, tuple(ids), sum(lengths) - sum(kept))
            if not any(kept):
                raise ValueError(f"The instruction alone has {len(ids)} tokens; there is room for {self.most}.")
            kept = shares(lengths, sum(kept) - excess, equal=equal)

    def _reply(self, prompts: list[Prompt]) -> list[Output]:
        start = time.perf_counter()
        width = max(len(prompt.ids) for prompt in prompts)
        device = self.loaded.device
        # Left padding, so that every reply begins right after its prompt.
        ids = torch.tensor([[self._pad] * (width - len(p.ids)) + list(p.ids) for p in prompts], device=device)
        mask = torch.tensor([[0] * (width - len(p.ids)) + [1] * len(p.ids) for p in prompts], device=device)
        with torch.inference_mode(), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            if self.generation.do_sample:
                seed = sha256(f"{self.config['seed']}:{prompts[0].source.key}".encode()).digest()
                torch.manual_seed(int.from_bytes(seed[:8], "big") >> 1)
            rows = self.loaded.model.generate(input_ids=ids, attention_mask=mask, generation_config=self.generation)[
                :, width:
            ].tolist()
        seconds = (time.perf_counter() - start) / len(prompts)
        units = [prompt.source.unit for prompt in prompts]
        return [self._output(prompt, row, seconds, units) for prompt, row in zip(prompts, rows, strict=True)]

    def _output(self, prompt: Prompt, row: list[int], seconds: float, units: list[int]) -> Output:
        stops = set(self.generation.eos_token_id)
        end = next((i for i, token in enumerate(row) if token in stops), None)
        ids = row if end is None else row[: end + 1]
        text = self.loaded.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False).strip()
        return Output(
            prompt.source.unit,
            text,
            Finish.LENGTH if end is None else Finish.COMPLETE,
            tokens_in=len(prompt.ids),
            tokens_cut=prompt.cut,
            tokens_out=len(ids),
            token_ids=tuple(ids),
            seconds=seconds,
            record={"batch": units, "device": self.loaded.device.type},
        )

    @property
    def _pad(self) -> int:
        return int(self.generation.pad_token_id)

    # Likelihoods

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        return likelihood.probe(
            items,
            ready=self._ready,
            judge=self._judge,
            device=self.loaded.device.type,
            memory=loading.MEMORY,
            limits=self.limits,
            weights=self.name,
        )

    def _ready(self, item: Probed) -> Judged[tuple[int, ...]]:
        try:
            prompt = self.prompt(item.source)
            replies = [self._scorable(text, len(prompt.ids)) for text in item.texts]
        except ValueError as error:
            raise Unscorable(str(error)) from error
        tree = Tree(prompt.ids[-1], [ids for ids, _ in replies])
        return Judged(item.source.unit, prompt.ids, len(prompt.ids), tree, [special for _, special in replies])

    def _scorable(self, text: str, prompt_tokens: int) -> tuple[list[int], list[bool]]:
        if not text.strip():
            raise Unscorable("A text is empty, so it has no likelihood.")
        ids, special = self.turns.reply(text.strip())
        likelihood.check_length(prompt_tokens + len(ids), self.window)
        return ids, special

    def _judge(self, batch: list[Judged[tuple[int, ...]]]) -> list[Nll]:
        model, judge = self._exact
        with torch.inference_mode():
            return judge(model, [item.source for item in batch], [item.tree for item in batch])

    @cached_property
    def _exact(self) -> tuple[Any, likelihood.Continue]:
        """Return the model in float32, regardless of the version's number format, and its likelihood method."""
        if self.recorded["dtype"] == "float32":
            model = self.loaded.model
        else:
            model = loading.load(self.config, self.recorded, "causal", dtype="float32").model
        return model, likelihood.choose_continuation(model)

    def close(self) -> None:
        self.__dict__.pop("_exact", None)
        self.loaded.close()


def _window(config: Any) -> int | None:
    """Return the maximum number of tokens of prompt and reply together, or None for models without a limit."""
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    return int(positions) if positions else None


def _generation(decoding: Mapping[str, Any], defaults: GenerationConfig, turns: Turns) -> GenerationConfig:
    """Return the generation settings. A value of None uses the model's default, which is a fact of the version."""
    stops = turns.stops(defaults.eos_token_id)
    if not stops:
        raise BackendError("Neither the model nor its tokenizer defines a token that ends a reply.")
    pad = turns.tokenizer.pad_token_id if turns.tokenizer.pad_token_id is not None else stops[0]
    settings = GenerationConfig(
        max_new_tokens=decoding["max_new_tokens"],
        min_new_tokens=decoding["min_new_tokens"],
        do_sample=decoding["method"] == "sampling",
        num_beams=1,
        eos_token_id=stops,
        pad_token_id=pad,
        repetition_penalty=decoding["repetition_penalty"],
        no_repeat_ngram_size=decoding["no_repeat_ngram_size"],
    )
    if settings.do_sample:
        settings.update(**{name: decoding[name] for name in ("temperature", "top_p", "top_k")})
    if decoding["method"] == "beam":
        settings.update(**{name: decoding[name] for name in ("num_beams", "length_penalty", "early_stopping")})
    return settings
