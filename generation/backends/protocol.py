"""What a summariser is to the rest of Concord. One module a backend stands behind this protocol; nothing here knows
Django or torch.

A *configuration* is plain JSON, checked against what the backend declares (`Backend.sections`):

    {"backend": "seq2seq", "level": "proposition", "seed": 0,
     "model": {...}, "assembly": {...}, "prompt": {...}, "decoding": {...}}

Its *facts* are what the configuration only points at: hashes of weights and tokenizer, commit, device, versions of
libraries. Both together are a version, and its name is their hash: what can change an output is in one of the two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from api.parameters import Parameter

Config = Mapping[str, Any]
Facts = Mapping[str, Any]
#: The parts of a configuration that a backend declares parameters for.
SECTIONS = ("model", "assembly", "prompt", "decoding")


class BackendError(Exception):
    """A version cannot be made or loaded, for a reason that a lead can act on: no such folder, keys that the weights
    lack, an endpoint that is not allowed. Repeating it would not help."""


class PassingError(Exception):
    """The whole batch could not be done now, and may be later: an endpoint that is away. Its items are left undone."""


@dataclass(frozen=True)
class InputText:
    """One text that a summary must be derived from. ``key`` names its study (PMID)."""

    text: str
    title: str = ""
    key: str = ""


@dataclass(frozen=True)
class Source:
    """One unit as every backend gets it. It never holds the target: nothing may summarise from the answer."""

    unit: int
    key: str
    inputs: tuple[InputText, ...]
    pico: Mapping[str, str] = field(default_factory=dict)
    background: str = ""
    question: str = ""


class Finish(StrEnum):
    """Why a text ends where it does."""

    COMPLETE = "complete"
    LENGTH = "length"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Output:
    """What came out for one unit. Token counts are None where the backend has no tokens.

    ``tokens_cut``: input tokens that did not fit and were left out; shown wherever the output is.
    ``seconds``: its share of the time of its batch. ``record``: what else should be kept (batch composition, device,
    the model and fingerprint that an endpoint returned), as JSON.
    """

    unit: int
    text: str
    finish: Finish = Finish.COMPLETE
    tokens_in: int | None = None
    tokens_cut: int | None = None
    tokens_out: int | None = None
    token_ids: tuple[int, ...] | None = None
    seconds: float = 0.0
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """One unit that could not be done, in words; the rest goes on."""

    unit: int
    reason: str


@dataclass(frozen=True)
class Probed:
    """One target and texts to compare with it, all judged given the same source. ``texts[0]`` is the target."""

    source: Source
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Likelihood:
    """Negative log-likelihood (nats, fp32) of each token of one text, given a source and the tokens before.

    Three tuples of one length: token ids, their nll, and whether a token is special (``<s>``, ``</s>``, not content).
    """

    token_ids: tuple[int, ...]
    nll: tuple[float, ...]
    special: tuple[bool, ...]


@dataclass(frozen=True)
class ProbedUnit:
    """The likelihoods of the texts of one `Probed`, in their order."""

    unit: int
    likelihoods: tuple[Likelihood, ...]


class Summariser(Protocol):
    """A loaded version, kept warm by a worker."""

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        """Do the units, in whatever order and batches are quickest; each batch is yielded once, as soon as it is done.

        The caller stores what was yielded before it asks for more, and may stop between two batches. Every unit is
        yielded exactly once, unless `PassingError` ends it.
        """

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        """As `summarise`, for likelihoods. Never called where `Backend.no_probe` gives a reason."""

    def close(self) -> None:
        """Free the memory."""


class Unprobed:
    """What summarisers without likelihoods share: `Backend.no_probe` says why, and a probe of them is refused."""

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        raise NotImplementedError("A run that probes this backend should have been refused.")


class Backend(Protocol):
    """A way to make summaries. Stateless; listed in `backends/__init__.py`."""

    key: str
    name: str
    description: str
    #: Why the probe is refused, in words; empty where the backend gives likelihoods.
    no_probe: str

    @property
    def sections(self) -> Mapping[str, tuple[Parameter, ...]]:
        """What may be configured, by section; a section that is left out takes nothing."""

    def needs_torch(self, config: Config) -> bool:
        """Whether only a worker with torch can do it."""

    def weights(self, config: Config) -> str:
        """What a warm worker holds: versions with the same are done one after the other. Empty where nothing is."""

    def facts(self, config: Config) -> dict[str, Any]:
        """What the configuration points at, as JSON; may take seconds (hashes). Raises `BackendError`."""

    def load(self, config: Config, facts: Facts) -> Summariser:
        """Load it. Raises `BackendError`, also when the facts are no longer what they were."""
