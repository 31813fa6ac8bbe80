"""The interface of backends, and the decoding parameters of encoder-decoders.

An empty decoding parameter uses the default of the checkpoint.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from api.parameters import Parameter, Takes

METHOD = Parameter(
    "method",
    Takes.CHOICE,
    "Method",
    "beam search",
    choices=("beam search", "sampling"),
    help="Beam search with one beam is greedy decoding. Sampling is seeded for each unit.",
)
_BEAMS = ("method", ("beam search",))
_SAMPLING = ("method", ("sampling",))
DECODER_START = Parameter(
    "decoder_start",
    Takes.CHOICE,
    "Decoder start token",
    "default",
    choices=("default", "bos"),
    help="bos: as in MS^2's checkpoints.",
)
#: Lengths are in tokens and include the decoder start token, as in transformers.
DECODING = (
    METHOD,
    Parameter("beams", Takes.INTEGER, "Beams", None, minimum=1, maximum=32, when=_BEAMS),
    Parameter(
        "length_penalty",
        Takes.NUMBER,
        "Length penalty",
        None,
        minimum=-10,
        maximum=10,
        when=_BEAMS,
        help="The score is divided by the length to this power. Values above 0 favour longer texts.",
    ),
    Parameter(
        "early_stopping",
        Takes.CHOICE,
        "Early stopping",
        "default",
        choices=("default", "yes", "no", "never"),
        when=_BEAMS,
        help="yes: stop when the number of finished beams reaches the number of beams.",
    ),
    Parameter("temperature", Takes.NUMBER, "Temperature", 1.0, minimum=0.01, maximum=10, when=_SAMPLING),
    Parameter("top_p", Takes.NUMBER, "Top p", 1.0, minimum=0.01, maximum=1, when=_SAMPLING),
    Parameter(
        "max_length",
        Takes.INTEGER,
        "Maximum length",
        None,
        minimum=2,
        maximum=16_384,
        help="In tokens. Empty: the value of the checkpoint, or 128 if it has none.",
    ),
    Parameter("min_length", Takes.INTEGER, "Minimum length", None, minimum=0, maximum=16_384, help="In tokens."),
    Parameter(
        "no_repeat_ngram",
        Takes.INTEGER,
        "No-repeat n-gram size",
        None,
        minimum=0,
        maximum=20,
        help="Length of the n-grams in tokens. 0: repeats are allowed.",
    ),
    Parameter("forced_bos", Takes.CHOICE, "First token", "default", choices=("default", "none", "bos")),
    DECODER_START,
)


Config = Mapping[str, Any]
Facts = Mapping[str, Any]
#: The sections of a configuration for which a backend declares parameters.
SECTIONS = ("model", "assembly", "prompt", "decoding")


class BackendError(Exception):
    """A version cannot be created or loaded, for a reason that a lead can fix. A retry would not help.

    Examples are a missing folder, missing weight keys, or an endpoint that is not allowed.
    """


class PassingError(Exception):
    """The batch failed for a temporary reason, such as an unavailable endpoint. Its items stay pending."""


@dataclass(frozen=True)
class InputText:
    """One input text of a summary. ``key`` identifies its study (PMID).

    ``tagged`` is the text with MS^2's tags, or empty. At the level of pairs, the text is the sentence that shows an
    effect, and ``direction`` is MS^2's name of its direction.
    """

    text: str
    title: str = ""
    key: str = ""
    direction: str = ""
    tagged: str = ""


@dataclass(frozen=True)
class Source:
    """One unit as passed to every backend.

    It excludes the target, so that no summary can be derived from the answer.
    """

    unit: int
    key: str
    inputs: tuple[InputText, ...]
    pico: Mapping[str, str] = field(default_factory=dict)
    background: str = ""
    question: str = ""


class Finish(StrEnum):
    """The reason why a text ends."""

    COMPLETE = "complete"
    LENGTH = "length"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Output:
    """The summary of one unit. Token counts are None if the backend does not use tokens.

    ``tokens_cut`` counts input tokens that did not fit and were left out. It is shown with the output. ``seconds`` is
    the unit's share of the batch time. ``record`` holds other data to store, as JSON: batch composition, device, and
    the model and fingerprint that an endpoint returned.
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
    """A unit that failed, with the reason. Other units continue."""

    unit: int
    reason: str


@dataclass(frozen=True)
class Probed:
    """A target and the texts to compare with it, all judged given the same source. ``texts[0]`` is the target."""

    source: Source
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Likelihood:
    """Negative log-likelihood (nats, fp32) of each token of a text, given a source and the preceding tokens.

    Three tuples of equal length: token ids, their nll, and whether a token is special (``<s>`` or ``</s>``, not
    content).
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
    """A loaded version, cached by a worker."""

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        """Summarise the units in any order, and yield each batch once, as soon as it is complete.

        The caller stores each batch before it requests the next one, and may stop between two batches. Every unit is
        yielded exactly once, unless `PassingError` is raised.
        """

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        """Like `summarise`, for likelihoods. Never called if `Backend.no_probe` is set."""

    def close(self) -> None:
        """Free the memory."""


class Unprobed:
    """Mixin for summarisers without likelihoods.

    `Backend.no_probe` gives the reason, and runs that probe are refused.
    """

    def probe(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        raise NotImplementedError("A run that probes this backend should have been refused.")


class Backend(Protocol):
    """A method of generating summaries. Stateless; registered in `backends/__init__.py`."""

    key: str
    name: str
    description: str
    #: The reason why probing is not supported; empty if the backend returns likelihoods.
    no_probe: str

    @property
    def sections(self) -> Mapping[str, tuple[Parameter, ...]]:
        """The parameters by section. An absent section has none."""

    def needs_torch(self, config: Config) -> bool:
        """Return whether the configuration requires a worker with torch."""

    def weights(self, config: Config) -> str:
        """Return the identity of the weights that a worker caches, or an empty string if there are none.

        Versions with the same identity are processed one after another.
        """

    def facts(self, config: Config) -> dict[str, Any]:
        """Return the facts that the configuration refers to, as JSON.

        May take seconds (hashes). Raise `BackendError`.
        """

    def load(self, config: Config, facts: Facts) -> Summariser:
        """Load a version. Raise `BackendError`, also if the facts have changed."""
