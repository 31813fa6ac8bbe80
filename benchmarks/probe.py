"""Benchmark of the encoder-decoder probe against one forward pass per text, as in a simple script.

A second comparison is the same loop with the inputs of an item encoded once for all its texts. All use the same random
weights, the same texts and fp32. Targets are as long as M3's, inputs as those of M3's longer clusters (the median has
about 130 words and marks). Counterfactuals differ from their target where M3's kinds do: at the verb, or, for "There is
no evidence that", at the first word.
"""

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .random_models import BASE, numbers, settle
from .report import Found, say

AIM = 4
SAME = 1e-5
#: (tokens inserted, tokens removed, at the beginning instead of the verb): negation, antonym, no effect, modality, no
#: evidence.
EDITS = ((1, 0, False), (1, 1, False), (3, 1, False), (1, 0, False), (5, 0, True))


@dataclass(frozen=True)
class Plan:
    """Sizes of a run. Lengths are ranges of tokens of inputs and targets. The ways alternate for ``repeats`` rounds."""

    items: int = 24
    repeats: int = 3
    inputs: tuple[int, int] = (150, 400)
    targets: tuple[int, int] = (25, 40)
    size: dict[str, int] = field(default_factory=lambda: BASE)
    vocabulary: int = 50_265
    gpu_items: int = 96

    @classmethod
    def quick(cls) -> "Plan":
        return cls(items=8, repeats=1)


@dataclass(frozen=True)
class Item:
    source: str
    texts: tuple[str, ...]


def run(plan: Plan) -> Found:
    found = Found()
    try:
        import torch
    except ImportError:
        found.skipped.append("probe: this machine has no torch (requirements/gpu.txt)")
        return found
    settle()
    _compared(found, plan, "cpu", "CPU")
    if torch.cuda.is_available():
        _compared(found, replace(plan, items=plan.gpu_items), "cuda", "GPU")
    return found


def _compared(found: Found, plan: Plan, device: str, where: str) -> None:
    import torch

    items = _items(plan)
    race = _Race(plan, device)
    race.ours(items[:1]), race.plainly(items[:1]), race.sharing(items[:1])  # warm-up, not measured
    rounds = []
    for _ in range(plan.repeats):
        ours, seconds, cores = _timed(lambda: race.ours(items))
        plain, plain_seconds, plain_cores = _timed(lambda: race.plainly(items))
        shared, shared_seconds, shared_cores = _timed(lambda: race.sharing(items))
        rounds.append(
            {
                "ours_s": seconds,
                "plain_s": plain_seconds,
                "ratio": plain_seconds / seconds,
                "cpu_ratio": plain_cores / cores,
                "shared_s": shared_seconds,
                "shared_ratio": shared_seconds / seconds,
                "shared_cpu_ratio": shared_cores / cores,
            }
        )
        say(f"    {rounds[-1]}")
    apart = max(
        abs(a - b)
        for loop in (plain, shared)
        for one, other in zip(ours, loop, strict=True)
        for a, b in zip(one, other, strict=True)
    )
    ratio = statistics.median(each["ratio"] for each in rounds)
    texts = sum(len(item.texts) for item in items)
    title = f"probe, bart-base-sized, fp32, {where}"
    found.at_least(f"{title}: times faster than one forward pass per text", ratio, AIM)
    found.at_most(f"{title}: largest difference of a token's likelihood, nats", apart, SAME)
    busy = sorted(each["cpu_ratio"] for each in rounds)
    found.told(
        f"{title}: the same ratio in processor time, median (least to most)",
        f"{statistics.median(busy):.3g} ({busy[0]:.3g} to {busy[-1]:.3g})",
    )
    for clock, name in (("", "times faster"), ("cpu_", "the same in processor time")):
        against = sorted(each[f"shared_{clock}ratio"] for each in rounds)
        found.told(
            f"{title}, against a loop that encodes each input once: {name}, median (least to most)",
            f"{statistics.median(against):.3g} ({against[0]:.3g} to {against[-1]:.3g})",
        )
    found.figures[f"bart-base-sized, {where}"] = {
        "items": len(items),
        "texts": texts,
        "rounds": rounds,
        "ratio": ratio,
        "difference": apart,
        "threads": torch.get_num_threads(),
    }


def _timed(call: Callable[[], list[list[float]]]) -> tuple[list[list[float]], float, float]:
    """Return the result, wall-clock seconds, and processor seconds, which do not depend on other load."""
    begun, busy = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - begun, time.process_time() - busy


def _items(plan: Plan) -> list[Item]:
    """Return items whose words are token ids. Each target has four or five counterfactuals."""
    chance = random.Random(0)

    def words(count: int) -> list[str]:
        return [str(chance.randrange(4, plan.vocabulary)) for _ in range(count)]

    items = []
    for _ in range(plan.items):
        target = words(chance.randint(*plan.targets))
        verb = round(len(target) * chance.uniform(0.25, 0.6))
        texts = [target]
        for put, gone, front in chance.sample(EDITS, chance.choice((4, 5))):
            at = 0 if front else verb
            texts.append([*target[:at], *words(put), *target[at + gone :]])
        items.append(Item(" ".join(words(chance.randint(*plan.inputs))), tuple(map(" ".join, texts))))
    return items


class _Race:
    """One set of random weights, used by our code and by the plain loop.

    Each returns all likelihoods of an item in a list.
    """

    def __init__(self, plan: Plan, device: str) -> None:
        import torch
        from transformers import BartConfig, BartForConditionalGeneration, GenerationConfig

        from generation.backends.seq2seq import Seq2SeqBackend
        from generation.neural.checkpoints.families import SEQ2SEQ
        from generation.neural.checkpoints.loading import LoadedModel
        from generation.neural.summarisers.seq2seq import Seq2Seq

        torch.manual_seed(0)
        self.device = device
        config = BartConfig(vocab_size=plan.vocabulary, **plan.size, attn_implementation="sdpa")
        model = BartForConditionalGeneration(config).to(device).eval()
        # The same tensors in an unmodified model.
        self.plain = BartForConditionalGeneration(config).eval()
        self.plain.load_state_dict(model.state_dict(), assign=True)
        self.plain.tie_weights()
        decoding = {
            "num_beams": 1,
            "max_length": 64,
            "pad_token_id": 1,
            "bos_token_id": 0,
            "eos_token_id": 2,
            "decoder_start_token_id": 2,
        }
        self.words = numbers(plan.vocabulary)
        loaded = LoadedModel(model, self.words, SEQ2SEQ["bart"], GenerationConfig(**decoding), torch.device(device))
        chosen = {name: {p.name: p.default for p in given} for name, given in Seq2SeqBackend.sections.items()}
        whole = {"backend": "seq2seq", "level": "proposition", "seed": 0, **chosen}
        self.summariser = Seq2Seq(whole, {"decoding": decoding}, loaded)

    def ours(self, items: Sequence[Item]) -> list[list[float]]:
        from generation.backends.protocol import InputText, Probed, ProbedUnit, Source

        probed = [Probed(Source(n, str(n), (InputText(item.source),)), item.texts) for n, item in enumerate(items)]
        found: dict[int, list[float]] = {}
        for batch in self.summariser.probe(probed):
            for unit in batch:
                if not isinstance(unit, ProbedUnit):
                    raise RuntimeError(unit.reason)
                found[unit.unit] = [value for one in unit.likelihoods for value in one.nll]
        return [found[n] for n in range(len(items))]

    def plainly(self, items: Sequence[Item]) -> list[list[float]]:
        return [[value for text in item.texts for value in self._judged(item.source, text)] for item in items]

    def sharing(self, items: Sequence[Item]) -> list[list[float]]:
        """Run the same loop, with the inputs of each item encoded once."""
        import torch

        found = []
        for item in items:
            ids = torch.tensor([self.words(item.source).input_ids], device=self.device)
            with torch.inference_mode():
                encoded = self.plain.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids))
            found.append([value for text in item.texts for value in self._judged(item.source, text, encoded)])
        return found

    def _judged(self, source: str, text: str, encoded: Any = None) -> list[float]:
        import torch

        ids, labels = (torch.tensor([self.words(words).input_ids], device=self.device) for words in (source, text))
        # The decoder starts with </s> and reads each token to predict the next one.
        read = torch.cat([torch.full((1, 1), 2, device=self.device), labels[:, :-1]], -1)
        given = {"encoder_outputs": encoded} if encoded is not None else {"input_ids": ids}
        with torch.inference_mode():
            logits = self.plain(**given, attention_mask=torch.ones_like(ids), decoder_input_ids=read).logits
            values: list[float] = torch.nn.functional.cross_entropy(logits[0], labels[0], reduction="none").tolist()
        return values
