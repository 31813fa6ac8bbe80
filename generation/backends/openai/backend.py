"""The endpoint backend: its parameters, and concurrent requests."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings

from api.outgoing.transport import Limits
from api.parameters import Parameter, Takes
from generation.backends.assembly import (
    BUDGET,
    DOCUMENTS,
    NAMES,
    ORDER,
    PAGES,
    PICO,
    SEPARATOR,
    TITLES,
    Unreadable,
    assemble,
    fill,
    shares,
)
from generation.backends.openai.client import (
    Client,
    InvalidResponse,
    Refusal,
    RequestGroup,
    Stopped,
    completion,
    stored_form,
)
from generation.backends.protocol import BackendError, Config, Facts, Failure, Output, PassingError, Source, Unprobed
from generation.backends.weights import unchanged
from generation.endpoints import Endpoint

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Cut:
    """Documents within a budget, their total length before the cut, and the length left out."""

    documents: tuple[str, ...]
    length: int
    left_out: int


def cut_to_budget(documents: Sequence[str], unit: str, limit: int | None, budget: str) -> Cut:
    """Cut documents to ``limit`` words (runs without white space) or characters (code points). None sets no limit."""
    measure, prefix = _UNITS[unit]
    lengths = [measure(document) for document in documents]
    if limit is None or sum(lengths) <= limit:
        return Cut(tuple(documents), sum(lengths), 0)
    kept_lengths = shares(lengths, limit, equal=budget == "equal shares")
    texts = (
        document if share == length else prefix(document, share)
        for document, share, length in zip(documents, kept_lengths, lengths, strict=True)
    )
    # Omit documents that were cut to nothing, so that no separator is added for them.
    return Cut(tuple(filter(None, texts)), sum(lengths), sum(lengths) - sum(kept_lengths))


def _words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _first_words(text: str, count: int) -> str:
    end = 0
    for number, word in enumerate(_WORD.finditer(text)):
        if number == count:
            break
        end = word.end()
    return text[:end]


_UNITS: dict[str, tuple[Callable[[str], int], Callable[[str, int], str]]] = {
    "words": (_words, _first_words),
    "characters": (len, lambda text, count: text[:count]),
}
UNITS = tuple(_UNITS)


#: Version of the request format. Increase it with any change that can change an output.
CLIENT = "concord-openai 1"
TEMPLATE = "Summarize the findings of the following studies in one or two sentences.\n\n{inputs}"

_ASSEMBLY = (
    ORDER,
    DOCUMENTS,
    PAGES,
    TITLES,
    PICO,
    SEPARATOR,
    Parameter("unit", Takes.CHOICE, "Budget in", "words", choices=UNITS),
    Parameter(
        "budget_size",
        Takes.INTEGER,
        "Maximum input words or characters",
        None,
        minimum=1,
        maximum=10_000_000,
        help="Empty: no limit. It is then unknown how the model handles inputs that exceed its own limit.",
    ),
    BUDGET,
)
_PROMPT = (
    Parameter(
        "system",
        Takes.LONG_TEXT,
        "System message",
        "",
        fields=NAMES[1:],
        help="Empty: no system message. It can contain the fields of the prompt, except {inputs}.",
    ),
    Parameter(
        "template",
        Takes.LONG_TEXT,
        "Prompt",
        TEMPLATE,
        required=True,
        fields=NAMES,
        needs=("inputs",),
        help="{inputs}, {background}, {question}, {pico}, {p}, {i}, {c} and {o} are replaced.",
    ),
)
_DECODING = (
    Parameter(
        "temperature",
        Takes.NUMBER,
        "Temperature",
        0.0,
        minimum=0,
        maximum=2,
        help="Empty: the default of the endpoint.",
    ),
    Parameter("top_p", Takes.NUMBER, "Top p", None, minimum=0, maximum=1, help="Empty: the default of the endpoint."),
    Parameter(
        "max_tokens",
        Takes.INTEGER,
        "Maximum new tokens",
        256,
        minimum=1,
        maximum=100_000,
        help="Empty: the default of the endpoint.",
    ),
    Parameter(
        "send_seed",
        Takes.SWITCH,
        "Send the seed",
        True,
        help="The run records whether the endpoint accepts the seed. Whether the endpoint uses it is unknown.",
    ),
)


class OpenAIBackend:
    key = "openai"
    name = "Endpoint"
    description = "A model behind an OpenAI-compatible endpoint (vLLM, Ollama) configured by the administrator."
    no_probe = "Chat completions of an endpoint return no likelihoods of given texts."

    @property
    def sections(self) -> Mapping[str, tuple[Parameter, ...]]:
        names = tuple(settings.GENERATION_ENDPOINTS)
        model = (
            Parameter(
                "endpoint",
                Takes.CHOICE,
                "Endpoint",
                names[0] if names else "",
                choices=names,
                required=True,
                help="Name of the endpoint in the GENERATION_ENDPOINTS setting.",
            ),
            Parameter("model", Takes.TEXT, "Model", "", required=True, help="Name of the model at the endpoint."),
            Parameter("concurrency", Takes.INTEGER, "Concurrent requests", 4, minimum=1, maximum=32, required=True),
            Parameter("timeout", Takes.INTEGER, "Request timeout (s)", 120, minimum=1, maximum=1800, required=True),
        )
        return {"model": model, "assembly": _ASSEMBLY, "prompt": _PROMPT, "decoding": _DECODING}

    def needs_torch(self, config: Config) -> bool:
        return False

    def weights(self, config: Config) -> str:
        return ""

    def facts(self, config: Config) -> dict[str, Any]:
        return {
            "client": CLIENT,
            "base URL": _endpoint(config).url,
            # The model behind an endpoint can change without notice, so the model name it returns is stored with every
            # output.
            "reproducibility": "recorded",
        }

    def load(self, config: Config, facts: Facts) -> "EndpointSummariser":
        unchanged(facts, self.facts(config))
        limits = Limits(total=float(config["model"]["timeout"]))
        return EndpointSummariser(config, Client(_endpoint(config), settings.GENERATION_NETWORKS, limits))


def _endpoint(config: Config) -> Endpoint:
    name = config["model"]["endpoint"]
    try:
        endpoint: Endpoint = settings.GENERATION_ENDPOINTS[name]
    except KeyError:
        names = ", ".join(settings.GENERATION_ENDPOINTS) or "none"
        raise BackendError(f"There is no endpoint {name!r}; configured endpoints: {names}.") from None
    return endpoint


class EndpointSummariser(Unprobed):
    """A loaded version: sends requests concurrently and yields each result as soon as it arrives."""

    def __init__(self, config: Config, client: Client) -> None:
        self.config, self.client = config, client

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        requests = RequestGroup()
        concurrency = self.config["model"]["concurrency"]
        waiting = iter(sources)
        pool = ThreadPoolExecutor(concurrency, thread_name_prefix="endpoint")
        pending: set[Future[Output | Failure]] = set()
        failure: BackendError | PassingError | None = None
        try:
            while True:
                # Twice the concurrency, so that no thread is idle while results are stored.
                while (
                    failure is None and len(pending) < 2 * concurrency and (source := next(waiting, None)) is not None
                ):
                    pending.add(pool.submit(self._one, source, requests))
                if not pending:
                    break
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                group, error = _collect_results(done)
                if error and failure is None:
                    failure = error
                    # Keep the answers of requests in progress; start and retry no others.
                    requests.give_up()
                    pending = {future for future in pending if not future.cancel()}
                if group:
                    yield group
            if failure:
                raise failure
        finally:
            requests.end()
            pool.shutdown(cancel_futures=True)

    def _one(self, source: Source, requests: RequestGroup) -> Output | Failure:
        start = time.monotonic()
        try:
            cut = self._documents(source)
            request = self._request(source, cut)
            seed = "taken" if "seed" in request else "not sent"
            try:
                answer = self.client.complete(request, requests)
            except Refusal as refusal:
                if refusal.status not in (400, 422) or "seed" not in request or "seed" not in str(refusal).lower():
                    raise
                seed = "refused"
                del request["seed"]
                answer = self.client.complete(request, requests)
            parsed = completion(answer.body)
        except (Refusal, Unreadable) as refusal:
            return Failure(source.unit, str(refusal))
        except InvalidResponse as error:
            return Failure(source.unit, f"The endpoint sent {error}.")
        record = {
            **{name: value for name, value in asdict(parsed).items() if name in ("model", "fingerprint", "usage")},
            "finish reason": parsed.finish_reason,
            "seed": seed,
            "tries": answer.attempts,
            "base URL": self.client.endpoint.url,
            "raw": stored_form(answer.body),
        }
        if cut.left_out:
            unit = self.config["assembly"]["unit"]
            record["cut"] = {"unit": unit, "of": cut.length, "left out": cut.left_out}
        return Output(
            source.unit,
            parsed.text,
            parsed.finish,
            tokens_in=parsed.tokens_in,
            tokens_out=parsed.tokens_out,
            seconds=time.monotonic() - start,
            record=record,
        )

    def _documents(self, source: Source) -> Cut:
        assembly = self.config["assembly"]
        documents = assemble(source, assembly, seed=self.config["seed"]).documents
        return cut_to_budget(documents, assembly["unit"], assembly["budget_size"], assembly["budget"])

    def _request(self, source: Source, cut: Cut) -> dict[str, Any]:
        prompt, decoding = self.config["prompt"], self.config["decoding"]
        chosen = self.config["assembly"]["separator"]
        separator = "\n\n" if chosen == "auto" else chosen
        content = fill(prompt["template"], source, separator.join(cut.documents))
        system = [{"role": "system", "content": fill(prompt["system"], source, "")}] if prompt["system"] else []
        request: dict[str, Any] = {
            "model": self.config["model"]["model"],
            "messages": [*system, {"role": "user", "content": content}],
            "stream": False,
        }
        request |= {
            name: decoding[name] for name in ("temperature", "top_p", "max_tokens") if decoding[name] is not None
        }
        if decoding["send_seed"]:
            request["seed"] = self.config["seed"]
        return request

    def close(self) -> None:
        pass


def _collect_results(
    futures: set[Future[Output | Failure]],
) -> tuple[list[Output | Failure], BackendError | PassingError | None]:
    """Return the results, and the error that stops the run, if any. Other exceptions are raised unchanged."""
    group: list[Output | Failure] = []
    failure: BackendError | PassingError | None = None
    for future in futures:
        if future.cancelled():
            continue
        try:
            group.append(future.result())
        except (BackendError, PassingError) as error:
            failure = failure or error
        except Stopped:
            continue
    return group, failure
