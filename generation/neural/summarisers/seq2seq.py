"""Encoder-decoders at work: read, encode in batches of like length, decode with shared states."""

import hashlib
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig
from transformers.modeling_outputs import BaseModelOutput

from ...backends import weights
from ...backends.assembly import Unreadable
from ...backends.protocol import Config, Facts, Failure, Finish, Output, Probed, ProbedUnit, Source
from ..batches import Batching, Limits, Memory, run, rung
from ..checkpoints import loading
from ..checkpoints.families import family_of
from ..encoders.encoding import Encoder, together
from ..inputs.reading import Read, Reader
from ..judging.probing import Probe
from ..writing.beams import Decoder
from ..writing.decoding import configuration, resolve
from ..writing.sharing import share_cross_attention

logger = logging.getLogger(__name__)

#: Tokens whose states are in a batch, padding included, and items in it. A CPU gains little more from larger ones, and
#: its progress would be seen less often.
TOKENS = {"cpu": 16_384, "cuda": 65_536}
ITEMS = {"cpu": 32, "cuda": 128}
#: What fitted, for as long as this process lives: another run of the same weights need not find out again.
LIMITS = Limits()


def facts(config: Config) -> dict[str, Any]:
    """`loading.facts`, and the decoding in full. `BackendError` for what the checkpoint cannot read or do."""
    found = loading.facts(config, "seq2seq")
    model_config, defaults = loading.generation_defaults(config, "seq2seq")
    assembly = config["assembly"]
    if assembly["markers"] != "none" or assembly.get("full_attention", "auto") != "auto":
        # Refused when the version is made, and not when it is run.
        words = loading.tokenizer(config)
        Reader(words, family_of(model_config, words.get_vocab), model_config, assembly, seed=config["seed"])
    found["decoding"] = resolve(defaults, config["decoding"], longest=positions(model_config))
    return found


def positions(model_config: Any) -> int | None:
    """How many tokens the decoder can write or judge; None where positions are relative."""
    led = getattr(model_config, "max_decoder_position_embeddings", None)
    found: int | None = led or getattr(model_config, "max_position_embeddings", None)
    return found


@dataclass(frozen=True)
class Written:
    """What came out of one unit in a batch of ``units`` that took ``seconds`` together."""

    tokens: list[int]
    units: list[int]
    seconds: float


class Seq2Seq:
    """A loaded version of the backend `seq2seq`. ``memory`` and ``limits`` are given by tests."""

    def __init__(self, config: Config, recorded: Facts, loaded: loading.Loaded, *, memory: Memory = loading.MEMORY,
                 limits: Limits = LIMITS) -> None:  # fmt: skip
        self.config, self.recorded, self.loaded = config, recorded, loaded
        self.memory, self.limits = memory, limits
        self.model, self.family, self.device = loaded.model, loaded.family, loaded.device
        self.settings = configuration(recorded["decoding"])
        # What `generate` finds nothing about in the version, it would take from here.
        self.model.generation_config = configuration(recorded["decoding"])
        share_cross_attention(self.model)
        self.decode = Decoder(self.model, self.settings)
        self.reader = Reader(loaded.tokenizer, self.family, self.model.config, config["assembly"], seed=config["seed"])
        self.encoder = Encoder(self.model, self.family, self.reader.mark)
        self.weights = weights.held(config)
        self.longest = positions(self.model.config)
        self._probe: Probe | None = None

    def read(self, source: Source) -> Read:
        """What is read of a unit. Raises `Unreadable`."""
        return self.reader.joined(source)

    def encode(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]:
        """States (n, S, d) and mask (n, S) of units."""
        return together(self.encoder.rows([read.rows[0] for read in batch], heads=[read.head for read in batch]))

    def length(self, read: Read) -> int:
        """Tokens of a unit, padded as its family pads."""
        multiple = self.family.padding(self.model.config)
        return -(-read.tokens // multiple) * multiple

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        reads: list[Read] = []
        for source in sources:
            try:
                reads.append(self.read(source))
            except Unreadable as why:
                yield [Failure(source.unit, str(why))]
        kind = self.device.type
        items = 1 if self.settings.do_sample else ITEMS[kind]
        batching = Batching[Read](length=self.length, tokens=TOKENS[kind], items=items)
        for batch in run(
            reads, self.write, batching=batching, memory=self.memory, limits=self.limits, weights=self.weights
        ):  # fmt: skip
            yield [self._output(read, written) for read, written in batch]

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        if self._probe is None:
            exact = self if self.model.dtype == torch.float32 else self._in_float32()
            self._probe = Probe(exact)
        yield from self._probe(items)

    def _in_float32(self) -> "Seq2Seq":
        loaded = loading.load(self.config, self.recorded, "seq2seq", dtype="float32")
        return type(self)(self.config, self.recorded, loaded, memory=self.memory, limits=self.limits)

    def write(self, batch: list[Read]) -> list[Written]:
        """Do one batch."""
        begun = time.perf_counter()
        with torch.inference_mode():
            states, mask = self.encode(batch)
            sampling = self.settings.do_sample
            found = [self._sampled(batch[0], states, mask)] if sampling else self.decode(states, mask)
        seconds = time.perf_counter() - begun
        units = [read.source.unit for read in batch]
        return [Written(tokens, units, seconds) for tokens in found]

    def close(self) -> None:
        if self._probe is not None and self._probe.summariser is not self:
            self._probe.summariser.close()
        del self.model, self.decode, self.encoder, self._probe
        self.loaded.close()

    def _sampled(self, read: Read, states: Tensor, mask: Tensor) -> list[int]:
        """One unit by transformers' own sampling, seeded by the version's seed and the unit: the same in any batch."""
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(_seed(self.config["seed"], read.source.key))
            tokens = self.model.generate(
                encoder_outputs=BaseModelOutput(last_hidden_state=states), attention_mask=mask,
                generation_config=GenerationConfig(**self.settings.to_dict()),
            )[0, 1:]  # fmt: skip
        return self.decode.trimmed(tokens.tolist())

    def _output(self, read: Read, written: Written | Exception) -> Output | Failure:
        if isinstance(written, Exception):
            return Failure(read.source.unit, f"{type(written).__name__}: {written}"[:500])
        return Output(
            read.source.unit, self._text(written.tokens), finish=self._finish(written.tokens),
            tokens_in=read.tokens, tokens_cut=read.cut, tokens_out=len(written.tokens),
            token_ids=tuple(written.tokens), seconds=written.seconds / len(written.units),
            # Who shared a batch, in which order: in bf16 that can change a token.
            record={"batch": written.units, "bucket": rung(self.length(read)), "device": self.device.type},
        )  # fmt: skip

    def _text(self, tokens: list[int]) -> str:
        """The text that tokens stand for; PEGASUS writes ``<n>`` for a line break, which may be a special token."""
        tokenizer, newline = self.loaded.tokenizer, self.family.newline
        line = tokenizer.get_vocab().get(newline) if newline else None
        parts: list[list[int]] = [[]]
        for token in tokens:
            if token == line:
                parts.append([])
            else:
                parts[-1].append(token)
        texts = [tokenizer.decode(part, skip_special_tokens=True, clean_up_tokenization_spaces=False)
                 for part in parts]  # fmt: skip
        joined = "\n".join(line.strip() for line in texts) if newline else texts[0]
        return (joined.replace(newline, "\n") if newline else joined).strip()

    def _finish(self, tokens: list[int]) -> Finish:
        """Cut where the longest output was reached; an end that was forced there is no end."""
        full = len(tokens) + 1 >= (self.settings.max_length or 0)
        ended = bool(tokens) and tokens[-1] in self.decode.ends
        forced = full and self.settings.forced_eos_token_id is not None
        return Finish.COMPLETE if ended and not forced else Finish.LENGTH


def _seed(seed: int, key: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{key}".encode()).digest()[:7], "big")


def load(config: Config, recorded: Facts) -> Seq2Seq:
    weights.unchanged(recorded, facts(config))
    return Seq2Seq(config, recorded, loading.load(config, recorded, "seq2seq"))
