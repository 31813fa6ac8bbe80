"""Ask a judge about pages, and repeat invalid answers. Knows nothing of the database."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from generation.backends.openai.client import (
    LARGEST,
    Client,
    InvalidResponse,
    Refusal,
    RequestGroup,
    Stopped,
    completion,
    shorten,
    stored_form,
)
from generation.backends.protocol import (
    BackendError,
    Failure,
    Finish,
    InputText,
    Output,
    PassingError,
    Source,
    Summariser,
)
from sql.text import storable

from ..kinds.pages import PageKind
from .pages import JudgedPage
from .prompts import delimiter_of, estimate_tokens, messages, user_message
from .replies import InvalidReply, value_of

#: Longest reply that is stored.
STORED = 20_000
#: The run stops after this number of pages in a row for which the endpoint was unavailable.
UNAVAILABLE = 3
CUT_OFF = "The reply was cut off at the maximum of new tokens."


@dataclass(frozen=True)
class Task:
    """One answer to ask for. ``control``: see `evaluation.models.Control`."""

    page: JudgedPage
    sample: int
    order: int
    control: str
    suspects: Sequence[dict[str, str]] = ()

    @property
    def key(self) -> tuple[int | None, int | None, int, int, str]:
        return self.page.page, self.page.judge_page, self.sample, self.order, self.control

    def shown(self) -> JudgedPage:
        """Return the page as this task shows it."""
        page = self.page.reversed() if self.order else self.page
        return page.without_suspects() if self.control else page


@dataclass
class Answered:
    """The outcome of a task. ``value`` is None if there is no valid answer, and ``error`` says why."""

    task: Task
    value: dict[str, Any] | None = None
    error: str = ""
    invalid: list[str] = field(default_factory=list)
    attempts: int = 0
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    is_estimated: bool = False
    seconds: float = 0.0
    raw: str = ""

    def count(self, tokens_in: int | None, tokens_out: int | None, prompt: Sequence[str], reply: str) -> None:
        """Add the tokens of an attempt. Without figures of the endpoint they are estimated."""
        self.is_estimated |= tokens_in is None or tokens_out is None
        tokens_in = estimate_tokens(prompt) if tokens_in is None else tokens_in
        tokens_out = estimate_tokens([reply]) if tokens_out is None else tokens_out
        self.tokens_in = min(self.tokens_in + tokens_in, LARGEST)
        self.tokens_out = min(self.tokens_out + tokens_out, LARGEST)


@dataclass(frozen=True)
class Settings:
    """What a judge version and a run decide about requests."""

    kind: PageKind
    system: str
    model: str
    salt: str
    temperature: float
    max_tokens: int
    seed: int
    send_seed: bool
    json_mode: bool
    retries: int
    concurrency: int = 1

    def prompt(self, task: Task, note: str = "") -> str:
        return user_message(task.shown().card, delimiter_of(self.salt, *task.key), note)


class Budget(Protocol):
    """A limit on the tokens or the cost of a run."""

    def allows(self, task: Task) -> bool:
        """Return whether a task may begin, and reserve its estimate."""

    def spent(self, answered: Answered) -> None:
        """Replace the estimate of a task by its tokens."""


class EndpointJudge:
    """A judge behind an OpenAI-compatible endpoint, which is asked about several pages at a time."""

    def __init__(self, settings: Settings, client: Client) -> None:
        self.settings, self.client = settings, client

    def answers(self, tasks: Iterator[Task], budget: Budget) -> Iterator[Answered]:
        """Yield each answer as soon as it is complete.

        End before the last task if the budget is used up. Raise `BackendError` for an error that affects all pages,
        such as a wrong key, and `PassingError` if the endpoint stays unavailable; the remaining pages have no answer.
        """
        requests = RequestGroup()
        pool = ThreadPoolExecutor(self.settings.concurrency, thread_name_prefix="judge")
        pending: dict[Future[Answered], Task] = {}
        postponed: list[Task] = []
        failure: BackendError | PassingError | None = None
        in_a_row, is_last_pass = 0, False
        try:
            while True:
                while failure is None and len(pending) < self.settings.concurrency:
                    task = next(tasks, None)
                    if task is None and not pending and postponed and not is_last_pass:
                        # The endpoint may be available again.
                        tasks, postponed, is_last_pass = iter(postponed), [], True
                        continue
                    if task is None or not budget.allows(task):
                        break
                    pending[pool.submit(self._answer, task, requests)] = task
                if not pending:
                    break
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    task = pending.pop(future)
                    try:
                        answered = future.result()
                    except PassingError as error:
                        in_a_row += 1
                        if in_a_row >= UNAVAILABLE:
                            failure = failure or error
                            requests.give_up()
                        elif is_last_pass:
                            failed = Answered(task, error=str(error))
                            budget.spent(failed)
                            yield failed
                        else:
                            postponed.append(task)
                    except BackendError as error:
                        failure = failure or error
                        requests.give_up()
                    except Stopped:
                        continue
                    else:
                        in_a_row = 0
                        budget.spent(answered)
                        yield answered
            if failure:
                raise failure
        finally:
            requests.end()
            pool.shutdown(cancel_futures=True)

    def _answer(self, task: Task, requests: RequestGroup) -> Answered:
        answered, note = Answered(task), ""
        start = time.monotonic()
        while answered.attempts <= self.settings.retries and requests.may_retry:
            answered.attempts += 1
            prompt = self.settings.prompt(task, note)
            try:
                body = self._send(task, prompt, requests)
            except Refusal as refusal:
                answered.error = str(refusal)
                break
            try:
                reply = completion(body)
            except InvalidResponse as error:
                answered.count(None, None, [self.settings.system, prompt], "")
                answered.raw = shorten(stored_form(body))
                note = f"The endpoint sent {error}."
                answered.invalid.append(note)
                continue
            answered.count(reply.tokens_in, reply.tokens_out, [self.settings.system, prompt], reply.text)
            answered.model, answered.raw = reply.model[:200], reply.text[:STORED]
            if note := _take(self.settings.kind, answered, reply.text, reply.finish):
                answered.invalid.append(note)
                continue
            break
        if answered.value is None and not answered.error and answered.attempts <= self.settings.retries:
            # It has attempts left, which a resumed run makes.
            raise Stopped
        answered.seconds = time.monotonic() - start
        return _ended(answered)

    def _send(self, task: Task, prompt: str, requests: RequestGroup) -> bytes:
        settings = self.settings
        request: dict[str, Any] = {
            "model": settings.model,
            "messages": messages(settings.system, prompt),
            "stream": False,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
        }
        if settings.send_seed:
            request["seed"] = settings.seed + task.sample
        if settings.json_mode:
            request["response_format"] = {"type": "json_object"}
        return self.client.complete(request, requests).body


class LocalJudge:
    """A chat model on this server. Its worker generates in batches, so invalid answers are repeated together."""

    def __init__(self, settings: Settings, model: Summariser) -> None:
        self.settings, self.model = settings, model

    def answers(self, tasks: Iterator[Task], budget: Budget) -> Iterator[Answered]:
        """Yield each answer as soon as it is complete. End before the last task if the budget is used up."""
        while group := [task for task in _some(tasks, 50) if budget.allows(task)]:
            waiting = {n: (Answered(task), "") for n, task in enumerate(group)}
            while waiting:
                sources = [self._source(n, answered, note) for n, (answered, note) in waiting.items()]
                for outputs in self.model.summarise(sources):
                    for output in outputs:
                        answered, note = waiting.pop(output.unit)
                        answered.attempts += 1
                        note = self._take(answered, output)
                        if note and answered.attempts <= self.settings.retries and not answered.error:
                            waiting[output.unit] = (answered, note)
                            continue
                        budget.spent(answered)
                        yield _ended(answered)

    def _source(self, number: int, answered: Answered, note: str) -> Source:
        task = answered.task
        key = "/".join(map(str, (*task.key, answered.attempts)))
        return Source(number, key, (InputText(self.settings.prompt(task, note)),))

    def _take(self, answered: Answered, output: Output | Failure) -> str:
        if isinstance(output, Failure):
            answered.error = output.reason
            return ""
        answered.seconds += output.seconds
        answered.tokens_in += output.tokens_in or 0
        answered.tokens_out += output.tokens_out or 0
        answered.model, answered.raw = self.settings.model[:200], output.text[:STORED]
        if output.tokens_cut:
            answered.error = f"The page is {output.tokens_cut} tokens too long for the model."
            return ""
        if note := _take(self.settings.kind, answered, output.text, output.finish):
            answered.invalid.append(note)
        return note


def _take(kind: PageKind, answered: Answered, reply: str, finish: Finish) -> str:
    """Store the value of a reply. Return why it is invalid, or an empty string."""
    if finish == Finish.LENGTH:
        return CUT_OFF
    try:
        answered.value = value_of(kind, answered.task.shown().card, reply)
    except InvalidReply as error:
        # The reply may contain characters that databases reject.
        return storable(str(error)[:1000])
    return ""


def _ended(answered: Answered) -> Answered:
    if answered.value is None and not answered.error:
        tries = f"{len(answered.invalid)} invalid answers"
        answered.error = f"{tries}. The last: {answered.invalid[-1]}"
    return answered


def _some(tasks: Iterator[Task], most: int) -> Iterator[Task]:
    for _, task in zip(range(most), tasks, strict=False):
        yield task
