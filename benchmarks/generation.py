"""Benchmark of encoder-decoder summaries in batches against one `generate` call per unit.

Both use the same random weights and decoding, and their token ids are compared. All texts have the maximum length. For
texts that end by themselves (``stopping``), the comparison also has `generate` on batches of similar length, as in a
careful script. On a GPU the model has the size of bart-large, in bfloat16 and float32. There the result is also
compared with the limit given by the memory bandwidth.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from . import stopping
from .random_models import BASE, numbers, settle
from .report import Found, say

LARGE = {
    "d_model": 1024,
    "encoder_layers": 12,
    "decoder_layers": 12,
    "encoder_ffn_dim": 4096,
    "decoder_ffn_dim": 4096,
    "encoder_attention_heads": 16,
    "decoder_attention_heads": 16,
}
SMALL = {
    "d_model": 128,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_ffn_dim": 256,
    "decoder_ffn_dim": 256,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
}
PAD = 1
#: Memory bandwidth of known GPUs, in bytes per second.
BANDWIDTH = {"H200": 4.8e12, "H100": 3.35e12, "A100": 2.0e12, "V100": 0.9e12}


@dataclass(frozen=True)
class Plan:
    """Sizes of a run.

    ``items`` are timed. ``same`` items are compared in fp32 with a small model. Lengths are in tokens, as (from, to)
    for inputs.
    """

    items: int = 24
    same: int = 200
    #: Number of items whose texts end by themselves, and sizes of plain batches.
    natural: int = 64
    batches: tuple[int, ...] = (8, 16)
    #: Whether to train a bart-base to end texts, too. This takes minutes on an idle core.
    teach_base: bool = False
    inputs: tuple[int, int] = (64, 384)
    output: int = 62
    beams: int = 4
    size: dict[str, int] = field(default_factory=lambda: BASE)
    vocabulary: int = 50_265
    #: For a GPU: number of items, number of items generated one by one, and sizes of plain batches.
    gpu_items: int = 256
    gpu_naive: int = 24
    gpu_batches: tuple[int, ...] = (16, 64)

    @classmethod
    def quick(cls) -> "Plan":
        return cls(items=8, same=40, natural=24)

    @classmethod
    def full(cls) -> "Plan":
        """Return a plan with two hundred items of the large vocabulary.

        It takes a quarter of an hour on an idle core.
        """
        return cls(items=200, teach_base=True)


def run(plan: Plan) -> Found:
    found = Found()
    try:
        import torch
    except ImportError:
        found.skipped.append("generation: this machine has no torch (requirements/gpu.txt)")
        return found
    settle()
    small = _Race(SMALL, 1_000, plan, "cpu", "float32", beams=plan.beams)
    _same(found, f"{plan.same} items, small model", small, _texts(plan.same, (8, 96), 1_000))
    base = _Race(plan.size, plan.vocabulary, plan, "cpu", "float32", beams=plan.beams)
    texts = _texts(plan.items, plan.inputs, plan.vocabulary)
    figures = _same(found, f"{plan.items} items, bart-base-sized, CPU", base, texts)
    found.at_least("generation, bart-base-sized, fp32, CPU: times faster than one by one", figures["ratio"], 3)
    found.told("generation: the same ratio in processor time", f"{figures['cpu_ratio']:.3g}")
    for what, size, vocabulary in (("small model", SMALL, 1_000), ("bart-base-sized, CPU", plan.size, plan.vocabulary)):
        if size == SMALL or plan.teach_base:
            race = _Race(size, vocabulary, plan, "cpu", "float32", beams=plan.beams, ends=True)
            _natural(found, what, race, stopping.texts(plan.natural, plan.inputs, vocabulary), plan)
    if torch.cuda.is_available():
        _gpu(found, plan)
    else:
        found.skipped.append("generation: bart-large-sized in bfloat16 and float32, for there is no GPU")
    return found


def _same(found: Found, what: str, race: "_Race", texts: Sequence[str]) -> dict[str, float]:
    """Time both ways and compare their token ids."""
    race.ours(texts[:2]), race.plainly(texts[:1])  # warm-up, not measured
    ours, seconds, busy = _timed(lambda: race.ours(texts))
    plain, plain_seconds, plain_busy = _timed(lambda: race.plainly(texts))
    same = sum(one == other for one, other in zip(ours, plain, strict=True))
    found.at_least(f"generation, {what}: share of identical token ids", same / len(texts), 1)
    figures = {
        "ours_s": seconds,
        "plain_s": plain_seconds,
        "ratio": plain_seconds / seconds,
        "identical": same,
        "cpu_ratio": plain_busy / busy,
        "items": len(texts),
        "tokens": sum(map(len, ours)),
    }
    found.figures[what] = figures
    say(f"    {what}: {figures}")
    return figures


def _natural(found: Found, what: str, race: "_Race", texts: Sequence[str], plan: Plan) -> None:
    """Time texts that end by themselves: our batches, one by one, and plain batches of similar length."""
    ways: dict[str, Callable[[Sequence[str]], list[list[int]]]] = {"ours": race.ours, "one by one": race.plainly}
    ways |= {f"sorted batches of {size}": partial(race.in_batches, size=size) for size in plan.batches}
    figures: dict[str, Any] = {"items": len(texts), "right about the end": race.taught}
    wrote: dict[str, list[list[int]]] = {}
    for name, way in ways.items():
        way(texts[:2])  # warm-up, not measured
        wrote[name], seconds, busy = _timed(lambda way=way: way(texts))  # type: ignore[misc]
        same = sum(one == other for one, other in zip(wrote["ours"], wrote[name], strict=True))
        figures[name] = {"seconds": seconds, "cpu": busy, "identical": same}
        say(f"    {what}, ending by itself: {name}: {figures[name]}")
    lengths = sorted(map(len, wrote["one by one"]))
    ended = sum(tokens[-1:] == [stopping.END] and len(tokens) < plan.output for tokens in wrote["one by one"])
    figures |= {"tokens": sum(lengths), "lengths": lengths, "ended before the longest": ended}
    title = f"generation, {what}, texts that end by themselves"
    quantiles = ", ".join(str(lengths[int(share * (len(lengths) - 1))]) for share in (0, 0.25, 0.5, 0.75, 1))
    found.told(f"{title}: tokens out, least, quartiles, most", f"{quantiles}; {ended} of {len(texts)} ended early")
    same = figures["one by one"]["identical"] / len(texts)
    found.at_least(f"{title}: share of identical token ids", same, 1)
    for name in list(ways)[1:]:
        times, busy = (figures[name][clock] / figures["ours"][clock] for clock in ("seconds", "cpu"))
        told = f"{times:.3g} ({busy:.3g} in processor time; {figures[name]['identical']} of {len(texts)} identical)"
        found.told(f"{title}: times faster than {name}", told)
    found.figures[f"{what}, ending by itself"] = figures


def _gpu(found: Found, plan: Plan) -> None:
    """Time a bart-large-sized model with maximum-length and self-ending texts, in both number formats."""
    import torch

    device = torch.cuda.get_device_name()
    limit = next((_limit(width, batch=128, plan=plan) for known, width in BANDWIDTH.items() if known in device), None)
    long = _texts(plan.gpu_items, (510, 510), plan.vocabulary)
    natural = stopping.texts(plan.gpu_items, (64, 510), plan.vocabulary)
    for dtype in ("bfloat16", "float32"):
        race = _Race(LARGE, plan.vocabulary, plan, "cuda", dtype, beams=6)
        figures = _rates(
            found,
            f"bart-large-sized, {dtype}, GPU, 512 in, 62 out, beam 6",
            race,
            long,
            plan,
            aim=30 if dtype == "bfloat16" else None,
        )
        if limit and dtype == "bfloat16":
            share = figures["ours"]["items/s"] / limit
            found.told("generation, the same: share of what the memory's bandwidth allows", f"{share:.2g}")
        del race
        race = _Race(LARGE, plan.vocabulary, plan, "cuda", dtype, beams=plan.beams, ends=True)
        _rates(found, f"bart-large-sized, {dtype}, GPU, texts that end by themselves", race, natural, plan)
        del race
        torch.cuda.empty_cache()


def _rates(
    found: Found, what: str, race: "_Race", texts: Sequence[str], plan: Plan, aim: float | None = None
) -> dict[str, Any]:
    """Return tokens per second of all ways. Only some items are generated one by one; these are compared."""
    ways: dict[str, tuple[Callable[[Sequence[str]], list[list[int]]], int]] = {
        "ours": (race.ours, len(texts)),
        "one by one": (race.plainly, plan.gpu_naive),
    }
    ways |= {f"sorted batches of {n}": (partial(race.in_batches, size=n), len(texts)) for n in plan.gpu_batches}
    figures: dict[str, Any] = {"right about the end": race.taught}
    wrote: dict[str, list[list[int]]] = {}
    for name, (way, count) in ways.items():
        way(texts[:2])  # warm-up, not measured
        wrote[name], seconds, _ = _timed(lambda way=way, count=count: way(texts[:count]))  # type: ignore[misc]
        same = sum(one == other for one, other in zip(wrote["ours"], wrote[name], strict=False))
        figures[name] = {
            "items": count,
            "seconds": seconds,
            "items/s": count / seconds,
            "identical": same,
            "tokens/s": sum(map(len, wrote[name])) / seconds,
        }
        say(f"    {what}: {name}: {figures[name]}")
    rate, plain = figures["ours"]["tokens/s"], figures["one by one"]["tokens/s"]
    one = figures["ours"]["items/s"]
    found.told(f"generation, {what}: tokens a second", f"{rate:.0f} ({one:.3g} texts a second)")
    if aim:
        found.at_least(f"generation, {what}: times faster than one by one", rate / plain, aim)
    for name in list(ways)[1 if not aim else 2 :]:
        ratio = rate / figures[name]["tokens/s"]
        told = f"{ratio:.3g} ({figures[name]['identical']} of {figures[name]['items']} texts identical)"
        found.told(f"generation, {what}: times faster than {name}", told)
    found.figures[what] = figures
    return figures


def _limit(bandwidth: float, *, batch: int, plan: Plan) -> float:
    """Return the items per second if decoding were limited by memory reads only.

    Each step reads the decoder's weights (228 M) once per batch. For each item it reads the keys and values of
    cross-attention once, and those of each beam so far; 2 bytes per number.
    """
    layers, width, beams, read = 12, 1024, 6, 512
    token = 2 * layers * width * 2
    weights = 228e6 * 2
    bytes_of_item = plan.output * (weights / batch + token * (read + beams * plan.output / 2))
    return bandwidth / bytes_of_item


def _timed(call: Callable[[], list[list[int]]]) -> tuple[list[list[int]], float, float]:
    """Return the result, wall-clock seconds, and processor seconds, which do not depend on other load."""
    begun, busy = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - begun, time.process_time() - busy


def _texts(count: int, lengths: tuple[int, int], vocabulary: int) -> list[str]:
    """Return texts whose words are token ids."""
    import random

    chance = random.Random(0)
    return [
        " ".join(str(chance.randrange(4, vocabulary)) for _ in range(chance.randint(*lengths))) for _ in range(count)
    ]


class _Race:
    """One set of random weights, used by our code and by the plain loop."""

    def __init__(
        self,
        size: dict[str, int],
        vocabulary: int,
        plan: Plan,
        device: str,
        dtype: str,
        *,
        beams: int,
        ends: bool = False,
    ) -> None:
        """Set up both models.

        With ``ends`` the weights are trained to end texts; otherwise texts have maximum length.
        """
        import torch
        from transformers import BartConfig, BartForConditionalGeneration, GenerationConfig

        from generation.backends.seq2seq import Seq2SeqBackend
        from generation.neural.checkpoints.families import SEQ2SEQ
        from generation.neural.checkpoints.loading import LoadedModel
        from generation.neural.summarisers.seq2seq import Seq2Seq

        torch.manual_seed(0)
        config = BartConfig(vocab_size=vocabulary, **size, attn_implementation="sdpa")
        model = BartForConditionalGeneration(config).to(device).eval()
        # Wider layers need a smaller learning rate.
        lesson: dict[str, Any] = {"steps": 480, "rate": 3e-4} if size == LARGE else {}
        self.taught = stopping.teach(model, vocabulary, **lesson) if ends else None
        model.to(getattr(torch, dtype))
        # The same tensors in an unmodified model.
        self.plain = BartForConditionalGeneration(config).eval()
        self.plain.load_state_dict(model.state_dict(), assign=True)
        self.plain.tie_weights()
        decoding = {
            "num_beams": beams,
            "max_length": plan.output + 1,
            "min_length": 0 if ends else plan.output + 1,
            "no_repeat_ngram_size": 3,
            "length_penalty": 1.0,
            "early_stopping": False,
            "pad_token_id": PAD,
            "bos_token_id": 0,
            "eos_token_id": 2,
            "decoder_start_token_id": 2,
        }
        self.settings, self.device = GenerationConfig(**decoding), device
        self.plain.generation_config = self.settings
        loaded = LoadedModel(model, numbers(vocabulary), SEQ2SEQ["bart"], self.settings, torch.device(device))
        sections = Seq2SeqBackend.sections
        chosen = {name: {p.name: p.default for p in parameters} for name, parameters in sections.items()}
        self.summariser = Seq2Seq(
            {"backend": "seq2seq", "level": "proposition", "seed": 0, **chosen}, {"decoding": decoding}, loaded
        )

    def _sources(self, texts: Sequence[str]) -> list[Any]:
        from generation.backends.protocol import InputText, Source

        return [Source(n, str(n), (InputText(text),)) for n, text in enumerate(texts)]

    def ours(self, texts: Sequence[str]) -> list[list[int]]:
        found = {}
        for batch in self.summariser.summarise(self._sources(texts)):
            for output in batch:
                found[output.unit] = list(getattr(output, "token_ids", None) or ())
        return [found[n] for n in range(len(texts))]

    def plainly(self, texts: Sequence[str]) -> list[list[int]]:
        return self.in_batches(texts, size=1)

    def in_batches(self, texts: Sequence[str], *, size: int) -> list[list[int]]:
        """Call `generate` on batches of ``size`` inputs of similar length, longest first."""
        import torch

        rows = [self.summariser.read(source).rows[0] for source in self._sources(texts)]
        order = sorted(range(len(rows)), key=lambda n: -len(rows[n])) if size > 1 else list(range(len(rows)))
        found: dict[int, list[int]] = {}
        for first in range(0, len(order), size):
            some = order[first : first + size]
            longest = max(len(rows[n]) for n in some)
            padded = [[*rows[n], *[PAD] * (longest - len(rows[n]))] for n in some]
            ids = torch.tensor(padded, device=self.device)
            with torch.inference_mode():
                tokens = self.plain.generate(
                    input_ids=ids, attention_mask=(ids != PAD).long(), generation_config=self.settings
                )
            found |= {n: self.summariser.decode.trimmed(one[1:].tolist()) for n, one in zip(some, tokens, strict=True)}
        return [found[n] for n in range(len(rows))]
