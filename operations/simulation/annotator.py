"""A simulated annotator: it fetches cards, waits, errs with given probabilities, and answers."""

import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.models import Modality, Polarity
from operations.simulation.client import Client
from operations.simulation.labels import Range, Thought, Truth, guess

POLARITIES = (Polarity.POSITIVE, Polarity.NO_EFFECT, Polarity.NEGATIVE)
MODALITIES = (Modality.STRONG, Modality.MODERATE, Modality.WEAK)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Noise:
    """Error probabilities of a simulated annotator, each from 0 to 1."""

    polarity: float = 0.0
    modality: float = 0.0
    #: Probability that one end of a cue moves by a word.
    jitter: float = 0.0
    #: Probability that a cue is omitted.
    dropped: float = 0.0
    skip: float = 0.0
    flag: float = 0.0

    def __post_init__(self) -> None:
        if bad := [name for name, share in vars(self).items() if not 0 <= share <= 1]:
            raise ValueError(f"Expected a probability from 0 to 1: {', '.join(bad)}.")

    @classmethod
    def of(cls, share: float) -> "Noise":
        """Return the same probability for all errors, without skips and flags."""
        return cls(polarity=share, modality=share, jitter=share, dropped=share)


def disturbed(thought: Thought, text: str, noise: Noise, rng: random.Random) -> Thought:
    """Return the answer with errors. It is always valid: ``n/a`` exactly with ``no evidence``."""
    polarity: str = thought.polarity
    modality: str = thought.modality
    if modality != Modality.NO_EVIDENCE and rng.random() < noise.polarity:
        polarity = rng.choice([p.value for p in POLARITIES if p != polarity])
    if rng.random() < noise.modality:
        modality = rng.choice([m.value for m in (*MODALITIES, Modality.NO_EVIDENCE) if m != modality])
        if modality == Modality.NO_EVIDENCE:
            polarity = Polarity.NOT_APPLICABLE.value
        elif polarity == Polarity.NOT_APPLICABLE:
            polarity = rng.choice(POLARITIES).value
    cues = {
        "polarity_cue": () if polarity == Polarity.NOT_APPLICABLE else thought.polarity_cue,
        "modality_cue": thought.modality_cue,
    }
    for name, ranges in cues.items():
        if rng.random() < noise.dropped:
            cues[name] = ()
        elif ranges and rng.random() < noise.jitter:
            cues[name] = _moved(ranges, text, rng)
    return replace(thought, polarity=polarity, modality=modality, **cues)


def _moved(ranges: tuple[Range, ...], text: str, rng: random.Random) -> tuple[Range, ...]:
    """Move one end of a single-fragment cue to a nearby word boundary, if possible."""
    if len(ranges) != 1:
        return ranges
    start, end = ranges[0]
    words = [match.span() for match in _WORD.finditer(text)]
    choices = [(s, end) for s, _ in words if s < end and s != start and abs(s - start) < 20]
    choices += [(start, e) for _, e in words if e > start and e != end and abs(e - end) < 20]
    return (rng.choice(choices),) if choices else ranges


class Annotator:
    """Answer the cards of a round until there are none left or a limit is reached."""

    def __init__(
        self,
        client: Client,
        round: int,
        *,
        truth: Truth = guess,
        noise: Noise | None = None,
        seed: int = 1,
        think: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Set up the annotator.

        ``think`` is the range of seconds to wait before an answer. Answers depend only on ``seed`` and the unit, not on
        the order of the units.
        """
        self.client, self.round = client, round
        self.truth, self.noise, self.seed, self.think = truth, noise or Noise(), seed, think
        self.requests = 0

    def work(self, *, limit: int | None = None, keep_going: Callable[[], bool] = lambda: True) -> int:
        """Answer up to ``limit`` cards while ``go_on()`` is true, and return their number.

        After the first request each card takes one request.
        """
        done = 0
        reply = self._fetch_held()
        cards = {card["assignment"]: card for card in reply["fetched"]}
        held: list[int] = reply["held"]
        while held and keep_going() and (limit is None or done < limit):
            card = cards.pop(held[0], None)
            if card is None:
                # Another tab of this person has fetched the card, so fetch all held cards again.
                cards = {c["assignment"]: c for c in self._fetch_held()["fetched"]}
                card = cards.pop(held[0])
            reply = self.answer(card, have=list(cards))
            done += 1
            held = reply["held"]
            cards |= {c["assignment"]: c for c in reply["fetched"]}
        return done

    def _fetch_held(self) -> Any:
        self.requests += 1
        return self.client.get(f"rounds/{self.round}/next/")

    def answer(self, card: Mapping[str, Any], *, have: list[int]) -> dict[str, Any]:
        """Wait, then submit an answer to one card."""
        rng = random.Random(f"{self.seed} {card['unit']['key']}")
        seconds = rng.uniform(*self.think)
        if seconds:
            time.sleep(seconds)
        self.requests += 1
        return self.client.submit(self.body(card, rng) | {"have": have})

    def body(self, card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        """Return the submission for a card."""
        body: dict[str, Any] = {
            "assignment": card["assignment"],
            "revision": card["revision"],
            "kind": card["kind"],
            "shown": card["shown"],
            "references": card["references"],
            "comment": "",
            "active_ms": rng.randint(3_000, 25_000),
            "flag": rng.random() < self.noise.flag,
        }
        if rng.random() < self.noise.skip:
            return body | {"outcome": "skipped", "reason": "unclear", "value": None}
        return body | {"outcome": "answered", "value": self.value(card, rng)}

    def value(self, card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        """Return the value for a card."""
        return disturbed(self.truth(card), card["text"], self.noise, rng).value(card["text"])
