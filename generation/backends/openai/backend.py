"""The backend: what can be configured, and requests under way side by side."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from typing import Any

from django.conf import settings

from api.outgoing.connection import Limits
from api.parameters import Parameter, Takes
from generation.endpoints import Endpoint

from ..assembly import BUDGET, DOCUMENTS, NAMES, ORDER, PICO, SEPARATOR, TITLES, Unreadable, assemble, fill
from ..protocol import BackendError, Config, Facts, Failure, Output, PassingError, Source, Unprobed
from ..weights import unchanged
from .client import Client, Refusal, RequestGroup, Stopped
from .cutting import UNITS, Cut, within
from .reading import Garbage, completion, kept

#: Name of how requests are made; raised with any change that can change an output.
CLIENT = "concord-openai 1"
TEMPLATE = "Summarize the findings of the following studies in one or two sentences.\n\n{inputs}"

_ASSEMBLY = (
    ORDER, DOCUMENTS, TITLES, PICO, SEPARATOR,
    Parameter("unit", Takes.CHOICE, "Budget in", "words", choices=UNITS),
    Parameter("budget_size", Takes.INTEGER, "Words or characters read at most", None, minimum=1, maximum=10_000_000,
              help="Empty: all, and what the model makes of more than it can read is not known."),
    BUDGET,
)  # fmt: skip
_PROMPT = (
    Parameter("system", Takes.LONG_TEXT, "System message", "", fields=NAMES[1:],
              help="Empty: none is sent. The fields of the prompt, but {inputs}."),
    Parameter("template", Takes.LONG_TEXT, "Prompt", TEMPLATE, required=True, fields=NAMES, needs=("inputs",),
              help="{inputs}, {background}, {question}, {pico}, {p}, {i}, {c} and {o} are replaced."),
)  # fmt: skip
_DECODING = (
    Parameter("temperature", Takes.NUMBER, "Temperature", 0.0, minimum=0, maximum=2, help="Empty: the endpoint's."),
    Parameter("top_p", Takes.NUMBER, "Top p", None, minimum=0, maximum=1, help="Empty: the endpoint's."),
    Parameter("max_tokens", Takes.INTEGER, "Tokens written at most", 256, minimum=1, maximum=100_000,
              help="Empty: the endpoint's."),
    Parameter("send_seed", Takes.SWITCH, "Send the seed", True,
              help="Whether an endpoint acts on it cannot be seen; whether it takes it is recorded."),
)  # fmt: skip


class OpenAIBackend:
    key = "openai"
    name = "Endpoint"
    description = "A model behind an OpenAI-compatible endpoint (vLLM, Ollama) that the administrator has named."
    no_probe = "An endpoint's chat completions give no likelihood of a text that somebody else wrote."

    @property
    def sections(self) -> Mapping[str, tuple[Parameter, ...]]:
        named = tuple(settings.GENERATION_ENDPOINTS)
        model = (
            Parameter("endpoint", Takes.CHOICE, "Endpoint", named[0] if named else "", choices=named, required=True,
                      help="As the administrator named it in GENERATION_ENDPOINTS."),
            Parameter("model", Takes.TEXT, "Model", "", required=True, help="The name by which the endpoint knows it."),
            Parameter("concurrency", Takes.INTEGER, "Requests at once", 4, minimum=1, maximum=32, required=True),
            Parameter("timeout", Takes.INTEGER, "Seconds until a request is given up", 120, minimum=1, maximum=1800,
                      required=True),
        )  # fmt: skip
        return {"model": model, "assembly": _ASSEMBLY, "prompt": _PROMPT, "decoding": _DECODING}

    def needs_torch(self, config: Config) -> bool:
        return False

    def weights(self, config: Config) -> str:
        return ""

    def facts(self, config: Config) -> dict[str, Any]:
        return {
            "client": CLIENT,
            "base URL": _endpoint(config).url,
            # The model behind an endpoint can change without a word: what it said it was is kept with every output.
            "reproducibility": "recorded",
        }

    def load(self, config: Config, facts: Facts) -> "Asker":
        unchanged(facts, self.facts(config))
        limits = Limits(total=float(config["model"]["timeout"]))
        return Asker(config, Client(_endpoint(config), settings.GENERATION_NETWORKS, limits))


def _endpoint(config: Config) -> Endpoint:
    name = config["model"]["endpoint"]
    try:
        found: Endpoint = settings.GENERATION_ENDPOINTS[name]
    except KeyError:
        named = ", ".join(settings.GENERATION_ENDPOINTS) or "none"
        raise BackendError(f"There is no endpoint {name!r}; the administrator has named: {named}.") from None
    return found


class Asker(Unprobed):
    """A version at work: so many requests at once, each outcome handed on as soon as it is there."""

    def __init__(self, config: Config, client: Client) -> None:
        self.config, self.client = config, client

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        effort = RequestGroup()
        at_once = self.config["model"]["concurrency"]
        waiting = iter(sources)
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="endpoint")
        pending: set[Future[Output | Failure]] = set()
        trouble: BackendError | PassingError | None = None
        try:
            while True:
                # Twice as many, so that no thread idles while what came is stored.
                while trouble is None and len(pending) < 2 * at_once and (source := next(waiting, None)) is not None:
                    pending.add(pool.submit(self._one, source, effort))
                if not pending:
                    break
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                group, error = _came(done)
                if error and trouble is None:
                    trouble = error
                    # What was answered meanwhile is kept; nothing is begun or tried again.
                    effort.give_up()
                    pending = {future for future in pending if not future.cancel()}
                if group:
                    yield group
            if trouble:
                raise trouble
        finally:
            effort.end()
            pool.shutdown(cancel_futures=True)

    def _one(self, source: Source, effort: RequestGroup) -> Output | Failure:
        began = time.monotonic()
        try:
            cut = self._documents(source)
            request = self._request(source, cut)
            seed = "taken" if "seed" in request else "not sent"
            try:
                answer = self.client.complete(request, effort)
            except Refusal as refusal:
                if refusal.status not in (400, 422) or "seed" not in request or "seed" not in str(refusal).lower():
                    raise
                seed = "refused"
                del request["seed"]
                answer = self.client.complete(request, effort)
            said = completion(answer.body)
        except (Refusal, Unreadable) as refusal:
            return Failure(source.unit, str(refusal))
        except Garbage as garbage:
            return Failure(source.unit, f"The endpoint sent {garbage}.")
        record = {
            **{name: value for name, value in asdict(said).items() if name in ("model", "fingerprint", "usage")},
            "finish reason": said.finish_reason,
            "seed": seed,
            "tries": answer.tries,
            "base URL": self.client.endpoint.url,
            "raw": kept(answer.body),
        }
        if cut.left_out:
            unit = self.config["assembly"]["unit"]
            record["cut"] = {"unit": unit, "of": cut.length, "left out": cut.left_out}
        return Output(
            source.unit, said.text, said.finish, tokens_in=said.tokens_in, tokens_out=said.tokens_out,
            seconds=time.monotonic() - began, record=record,
        )  # fmt: skip

    def _documents(self, source: Source) -> Cut:
        assembly = self.config["assembly"]
        documents = assemble(source, assembly, seed=self.config["seed"]).documents
        return within(documents, assembly["unit"], assembly["budget_size"], assembly["budget"])

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


def _came(done: set[Future[Output | Failure]]) -> tuple[list[Output | Failure], BackendError | PassingError | None]:
    """What came, and what stops the rest. An error beside these two is raised as it is."""
    group: list[Output | Failure] = []
    trouble: BackendError | PassingError | None = None
    for future in done:
        if future.cancelled():
            continue
        try:
            group.append(future.result())
        except (BackendError, PassingError) as error:
            trouble = trouble or error
        except Stopped:
            continue
    return group, trouble
