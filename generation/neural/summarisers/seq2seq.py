"""Loaded encoder-decoders: tokenize, encode in batches of similar length, and decode with shared states."""

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

from generation.neural.judging.likelihood import Probe
from generation.neural.writing.decoding import share_cross_attention

from ...backends import weights
from ...backends.assembly import Unreadable
from ...backends.protocol import Config, Facts, Failure, Finish, Output, Probed, ProbedUnit, Source
from ..batches import Batching, Limits, Memory, length_bucket, run
from ..checkpoints import loading
from ..checkpoints.families import family_of
from ..encoders.encoding import Encoder, pad_states
from ..inputs.reading import Read, Reader
from ..writing.beams import Decoder
from ..writing.decoding import configuration, resolve

logger = logging.getLogger(__name__)

#: Tokens whose states form a batch, including padding, and items per batch. Larger batches gain little on a CPU, and
#: progress would be reported less often.
TOKENS = {"cpu": 16_384, "cuda": 65_536}
ITEMS = {"cpu": 32, "cuda": 128}
#: Batch sizes that fit, kept for the lifetime of the process, so that runs with the same weights reuse them.
LIMITS = Limits()


def facts(config: Config) -> dict[str, Any]:
    """Return `loading.facts` with the full decoding settings. Raise `BackendError` for unsupported settings."""
    model_facts = loading.facts(config, "seq2seq")
    model_config, defaults = loading.generation_defaults(config, "seq2seq")
    assembly = config["assembly"]
    if assembly["markers"] != "none" or assembly.get("full_attention", "auto") != "auto":
        # Unsupported assemblies are rejected when the version is created, not when it is run.
        tokenizer = loading.tokenizer(config)
        Reader(tokenizer, family_of(model_config, tokenizer.get_vocab), model_config, config)
    model_facts["decoding"] = resolve(defaults, config["decoding"], longest=positions(model_config))
    return model_facts


def positions(model_config: Any) -> int | None:
    """Return the maximum number of tokens of the decoder, or None if positions are relative."""
    led = getattr(model_config, "max_decoder_position_embeddings", None)
    limit: int | None = led or getattr(model_config, "max_position_embeddings", None)
    return limit


@dataclass(frozen=True)
class GeneratedTokens:
    """The output of one unit, in a batch of ``units`` that took ``seconds`` in total."""

    tokens: list[int]
    units: list[int]
    seconds: float


class Seq2Seq:
    """A loaded version of the backend `seq2seq`. Tests pass ``memory`` and ``limits``."""

    def __init__(
        self,
        config: Config,
        recorded: Facts,
        loaded: loading.LoadedModel,
        *,
        memory: Memory = loading.MEMORY,
        limits: Limits = LIMITS,
    ) -> None:
        self.config, self.recorded, self.loaded = config, recorded, loaded
        self.memory, self.limits = memory, limits
        self.model, self.family, self.device = loaded.model, loaded.family, loaded.device
        self.settings = configuration(recorded["decoding"])
        # `generate` falls back to these settings.
        self.model.generation_config = configuration(recorded["decoding"])
        share_cross_attention(self.model)
        self.decode = Decoder(self.model, self.settings)
        self.reader = Reader(loaded.tokenizer, self.family, self.model.config, config)
        self.encoder = Encoder(self.model, self.family, self.reader.mark)
        self.weights = weights.cache_key(config)
        self.longest = positions(self.model.config)
        self._probe: Probe | None = None

    def read(self, source: Source) -> Read:
        """Return the tokens of a unit. Raise `Unreadable`."""
        return self.reader.joined(source)

    def encode(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]:
        """Return states (n, S, d) and mask (n, S) of units."""
        return pad_states(self.encoder.rows([read.rows[0] for read in batch], heads=[read.head for read in batch]))

    def length(self, read: Read) -> int:
        """Return the number of tokens of a unit, with the padding of its family."""
        multiple = self.family.padding(self.model.config)
        return -(-read.tokens // multiple) * multiple

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        reads: list[Read] = []
        for source in sources:
            try:
                reads.append(self.read(source))
            except Unreadable as error:
                yield [Failure(source.unit, str(error))]
        kind = self.device.type
        items = 1 if self.settings.do_sample else ITEMS[kind]
        batching = Batching[Read](length=self.length, tokens=TOKENS[kind], items=items)
        for batch in run(
            reads, self.write, batching=batching, memory=self.memory, limits=self.limits, weights=self.weights
        ):
            yield [self._output(read, written) for read, written in batch]

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        if self._probe is None:
            exact = self if self.model.dtype == torch.float32 else self._in_float32()
            self._probe = Probe(exact)
        yield from self._probe(items)

    def _in_float32(self) -> "Seq2Seq":
        loaded = loading.load(self.config, self.recorded, "seq2seq", dtype="float32")
        return type(self)(self.config, self.recorded, loaded, memory=self.memory, limits=self.limits)

    def write(self, batch: list[Read]) -> list[GeneratedTokens]:
        """Generate the outputs of one batch."""
        start = time.perf_counter()
        with torch.inference_mode():
            states, mask = self.encode(batch)
            sampling = self.settings.do_sample
            outputs = [self._sample(batch[0], states, mask)] if sampling else self.decode(states, mask)
        seconds = time.perf_counter() - start
        units = [read.source.unit for read in batch]
        return [GeneratedTokens(tokens, units, seconds) for tokens in outputs]

    def close(self) -> None:
        if self._probe is not None and self._probe.summariser is not self:
            self._probe.summariser.close()
        del self.model, self.decode, self.encoder, self._probe
        self.loaded.close()

    def _sample(self, read: Read, states: Tensor, mask: Tensor) -> list[int]:
        """Sample one unit with transformers, seeded by the version's seed and the unit, so that the result is
        batch-independent.
        """
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(_seed(self.config["seed"], read.source.key))
            tokens = self.model.generate(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=mask,
                generation_config=GenerationConfig(**self.settings.to_dict()),
            )[0, 1:]
        return self.decode.trimmed(tokens.tolist())

    def _output(self, read: Read, written: GeneratedTokens | Exception) -> Output | Failure:
        if isinstance(written, Exception):
            return Failure(read.source.unit, f"{type(written).__name__}: {written}"[:500])
        return Output(
            read.source.unit,
            self._text(written.tokens),
            finish=self._finish(written.tokens),
            tokens_in=read.tokens,
            tokens_cut=read.cut,
            tokens_out=len(written.tokens),
            token_ids=tuple(written.tokens),
            seconds=written.seconds / len(written.units),
            # The units of the batch, in order: in bf16 they can change a token.
            record={"batch": written.units, "bucket": length_bucket(self.length(read)), "device": self.device.type},
        )

    def _text(self, tokens: list[int]) -> str:
        """Decode tokens to text. PEGASUS uses ``<n>``, which may be a special token, for a line break."""
        tokenizer, newline = self.loaded.tokenizer, self.family.newline
        line = tokenizer.get_vocab().get(newline) if newline else None
        parts: list[list[int]] = [[]]
        for token in tokens:
            if token == line:
                parts.append([])
            else:
                parts[-1].append(token)
        texts = [tokenizer.decode(part, skip_special_tokens=True, clean_up_tokenization_spaces=False) for part in parts]
        joined = "\n".join(line.strip() for line in texts) if newline else texts[0]
        return (joined.replace(newline, "\n") if newline else joined).strip()

    def _finish(self, tokens: list[int]) -> Finish:
        """Return LENGTH if the maximum length was reached.

        An end token that was forced there does not count as an end.
        """
        full = len(tokens) + 1 >= (self.settings.max_length or 0)
        ended = bool(tokens) and tokens[-1] in self.decode.ends
        forced = full and self.settings.forced_eos_token_id is not None
        return Finish.COMPLETE if ended and not forced else Finish.LENGTH


def _seed(seed: int, key: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{key}".encode()).digest()[:7], "big")


def load(config: Config, recorded: Facts) -> Seq2Seq:
    weights.unchanged(recorded, facts(config))
    return Seq2Seq(config, recorded, loading.load(config, recorded, "seq2seq"))
