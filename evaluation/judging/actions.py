"""Start, stop, resume and execute the runs of judges."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from secrets import token_hex
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, Sum
from django.utils import timezone

from accounts.models import User
from annotation.imports.redistribution import redistribution_of, strictest
from api.problems import Conflict, Refused
from audit.log import record
from generation.backends.protocol import BackendError, PassingError
from projects.jobs import batches, jobs
from projects.jobs.running import RunningJob
from projects.models import Import, Job, JobStatus
from sql.compiled import insert

from ..models import (
    Control,
    Judge,
    JudgeAnswer,
    JudgePreference,
    JudgeRating,
    JudgeRun,
    JudgeRunState,
    JudgeSet,
    RatingDesign,
)
from . import prompts, versions
from .asking import Answered, Task
from .pages import JudgedPage, counts_of, judge_page_ids, page_ids, pages_of_round, pages_of_set, source_units

KIND = "run_judge"
MOST_SAMPLES, MOST_CONCURRENT = 20, 32
State = JudgeRunState
_ENDED = (State.STOPPED, State.BUDGET, State.FAILED)
#: Share of the maximum of new tokens that the estimate assumes for each answer.
ASSUMED = 0.25
#: Part of the origin of summaries that `evaluation.imports.ratings` brought.
_BROUGHT_WITH = re.compile(r"^Imported with the ratings in .*, SHA-256 ([0-9a-f]{64})$")


def system_message_of(judge: Judge, page: JudgedPage) -> str:
    """Return the protocol of a page as this judge reads it. It is the same for all pages of a round."""
    return prompts.system_message(page.card, extra=judge.prompt["extra"], reasons=judge.prompt["reasons"])


def pages_of_run(design: RatingDesign, judge_set: JudgeSet | None) -> Iterator[JudgedPage]:
    yield from pages_of_round(design, page_ids(design))
    yield from pages_of_set(design, judge_page_ids(judge_set))


def tasks_of(run: JudgeRun) -> Iterator[Task]:
    """Yield the answers to ask for that are not stored yet, the controls of a page after its answers."""
    stored = set(JudgeAnswer.objects.filter(run=run).values_list("page", "judge_page", "sample", "order", "control"))
    for page in pages_of_run(run.design, run.judge_set):
        suspects = page.suspects()
        for order in (0, 1) if run.both_orders and len(page.codes) > 1 else (0,):
            for sample in range(run.samples):
                # The first sample is repeated without the suspicious sentences.
                for control in (Control.NONE, Control.REMOVED) if suspects and sample == 0 else (Control.NONE,):
                    task = Task(page, sample, order, str(control.value), suspects)
                    if task.key not in stored:
                        yield task


# Licences


def licences_of(design: RatingDesign, judge_set: JudgeSet | None) -> dict[str, int]:
    """Return the number of sources whose licences allow, forbid or do not state redistribution.

    The licence of imported ratings holds for the texts that they brought.
    """
    units = source_units(design, judge_set)
    statements = redistribution_of(design.round.project_id, units)
    configs = design.systems.exclude(run=None).values_list("run__version__config", flat=True)
    origins = [config.get("model", {}).get("made_by") or "" for config in configs]
    of_runs = Q(sha256__in=[sha for origin in origins for sha in _BROUGHT_WITH.findall(origin)])
    of_round = Q(file_name=design.round.sampling.get("file", ""))
    brought = Import.objects.filter(of_runs | of_round, project=design.round.project_id)
    of_texts = list(brought.values_list("may_redistribute", flat=True))
    values = [strictest([statements[unit], *of_texts]) for unit in units]
    return {
        "allowed": sum(value is True for value in values),
        "forbidden": sum(value is False for value in values),
        "unknown": sum(value is None for value in values),
    }


def _check_licences(licences: Mapping[str, int], *, is_outside: bool, reason: str) -> None:
    if not is_outside:
        return
    if licences["forbidden"]:
        raise Refused.field(
            "judge",
            f"The licence of {licences['forbidden']} sources forbids to redistribute their texts, so they cannot be "
            "sent to this endpoint. Use a model on this server.",
        )
    if licences["unknown"] and not reason.strip():
        raise Refused.field(
            "licence_reason",
            f"The licence of {licences['unknown']} sources is unknown. Say why their texts may be sent there.",
        )


def _check_licences_again(run: JudgeRun) -> None:
    """Raise `BackendError` if a licence forbids now what it did not forbid when the run was started."""
    try:
        _check_licences(licences_of(run.design, run.judge_set), is_outside=run.is_outside, reason=run.licence_reason)
    except Refused as refused:
        raise BackendError(refused.detail) from refused


# Start, stop, resume


def start_run(
    *,
    judge: Judge,
    design: RatingDesign,
    judge_set: JudgeSet | None = None,
    samples: int = 1,
    both_orders: bool = False,
    concurrency: int = 4,
    max_cost: Decimal | None = None,
    max_tokens: int | None = None,
    price_in: Decimal | None = None,
    price_out: Decimal | None = None,
    currency: str = "",
    licence_reason: str = "",
    by: User | None,
) -> JudgeRun:
    """Start a judge on the pages of a round and of a judge set. Raise `Refused` if a licence forbids it."""
    endpoint = None if judge.is_local else versions.endpoint_of(judge)
    prices = _prices(judge, price_in, price_out, currency)
    if not 1 <= samples <= MOST_SAMPLES:
        raise Refused.field("samples", f"Must be from 1 to {MOST_SAMPLES}.")
    if samples > 1 and judge.decoding["temperature"] == 0:
        raise Refused.field("samples", "At temperature 0 all samples are equal. Use one, or another judge.")
    if not 1 <= concurrency <= MOST_CONCURRENT:
        raise Refused.field("concurrency", f"Must be from 1 to {MOST_CONCURRENT}.")
    _check_limit(max_cost, prices["price_in"])
    if design.round.project_id != judge.project_id or (judge_set and judge_set.design_id != design.pk):
        raise Refused.field("judge", "Choose a judge of this project.")
    licences = licences_of(design, judge_set)
    is_outside = bool(endpoint and endpoint.is_outside)
    _check_licences(licences, is_outside=is_outside, reason=licence_reason)
    # The two orders of a pair show whether the judge prefers a side.
    both_orders = both_orders or design.round.kind == "compare"
    requests = counts_of(design, judge_set).requests(samples, both_orders)
    if not requests:
        raise Refused("The round has no pages that a judge can rate.")
    with transaction.atomic():
        run = JudgeRun.objects.create(
            judge=judge,
            design=design,
            judge_set=judge_set,
            samples=samples,
            both_orders=both_orders,
            concurrency=concurrency,
            requests_count=requests,
            max_cost=max_cost,
            max_tokens=max_tokens,
            **prices,
            host=endpoint.host if endpoint else "",
            is_outside=is_outside,
            licences=licences,
            licence_reason=licence_reason.strip() if is_outside and licences["unknown"] else "",
            system_message=system_message_of(judge, next(pages_of_run(design, None))),
            salt=token_hex(16),
            created_by=by,
        )
        _queue(run, by)
        _log("start judge", run, by, _as_logged(run))
    return run


def _as_logged(run: JudgeRun) -> dict[str, Any]:
    return {
        "round": run.design_id and run.design.round_id,
        "judge": run.judge.digest,
        "answers": run.requests_count,
        "host": run.host,
        "is_outside": run.is_outside,
        "licences": run.licences,
        "licence_reason": run.licence_reason,
        "max_cost": None if run.max_cost is None else str(run.max_cost),
        "max_tokens": run.max_tokens,
        "prices": [None if price is None else str(price) for price in (run.price_in, run.price_out)] + [run.currency],
    }


def _prices(judge: Judge, price_in: Decimal | None, price_out: Decimal | None, currency: str) -> dict[str, Any]:
    """Return the prices of a run: those given, else those of the project's endpoint."""
    if (price_in is None) != (price_out is None) or (price_in is not None) != bool(currency):
        raise Refused.field("currency", "Give both prices and their currency, or none.")
    own = judge.project_endpoint
    if price_in is None and own is not None:
        return {"price_in": own.price_in, "price_out": own.price_out, "currency": own.currency}
    return {"price_in": price_in, "price_out": price_out, "currency": currency}


def _check_limit(max_cost: Decimal | None, price: Decimal | None) -> None:
    if max_cost is not None and price is None:
        raise Refused.field("max_cost", "Without prices the cost is unknown. Limit the tokens instead.")


def _queue(run: JudgeRun, by: User | None) -> None:
    job, _ = jobs.request_job(
        project=run.judge.project,
        kind=KIND,
        queue=versions.queue_of_judge(run.judge),
        by=by,
        params={"judgerun": run.pk},
    )
    JudgeRun.objects.filter(pk=run.pk).update(job=job)
    run.job = job


def stop_run(*, run: JudgeRun, by: User | None) -> None:
    """Stop a run. Its answers are kept."""
    if run.job is None or run.state not in (State.WAITING, State.RUNNING):
        raise Conflict("This run is not in progress.")
    with transaction.atomic():
        _log("stop judge", run, by, None)
        jobs.cancel(run.job)
    run.refresh_from_db()


def resume_run(
    *, run: JudgeRun, max_cost: Decimal | None = None, max_tokens: int | None = None, by: User | None
) -> None:
    """Resume a run that ended early, with other limits if they are given. Stored answers are not asked for again."""
    _check_limit(max_cost, run.price_in)
    with transaction.atomic():
        ended = JudgeRun.objects.filter(pk=run.pk, state__in=_ENDED)
        if not ended.update(state=State.WAITING, error="", finished_at=None):
            raise Conflict("Only a run that ended early can be resumed.")
        limits = {"max_cost": max_cost, "max_tokens": max_tokens}
        if changed := {name: value for name, value in limits.items() if value is not None}:
            JudgeRun.objects.filter(pk=run.pk).update(**changed)
        run.refresh_from_db()
        _queue(run, by)
        _log("resume judge", run, by, _as_logged(run))


# The job


class RunBudget:
    """The limits of a run, with the estimates of answers in progress."""

    def __init__(self, run: JudgeRun) -> None:
        self.run = run
        sums = run.answers.aggregate(Sum("tokens_in"), Sum("tokens_out"))
        self.tokens = [sums["tokens_in__sum"] or 0, sums["tokens_out__sum"] or 0]
        self.reserved: dict[Any, tuple[int, int]] = {}
        self.is_used_up = False

    def allows(self, task: Task) -> bool:
        estimate = estimate_of(self.run.judge, self.run.system_message, task)
        # A postponed task has an estimate already.
        reserved = self.reserved | {task.key: estimate}
        tokens_in, tokens_out = (
            spent + sum(one[n] for one in reserved.values()) for n, spent in enumerate(self.tokens)
        )
        cost = cost_of(self.run, tokens_in, tokens_out)
        limit = self.run.max_tokens
        over_cost = self.run.max_cost is not None and cost is not None and cost > self.run.max_cost
        if over_cost or (limit is not None and tokens_in + tokens_out > limit):
            self.is_used_up = True
            return False
        self.reserved = reserved
        return True

    def spent(self, answered: Answered) -> None:
        self.reserved.pop(answered.task.key, None)
        self.tokens[0] += answered.tokens_in
        self.tokens[1] += answered.tokens_out


def cost_of(run: JudgeRun, tokens_in: int, tokens_out: int) -> Decimal | None:
    """Return the cost of tokens at the prices of a run, or None if they are unknown."""
    if run.price_in is None or run.price_out is None:
        return None
    return (run.price_in * tokens_in + run.price_out * tokens_out) / 1_000_000


def estimate_of(judge: Judge, system: str, task: Task) -> tuple[int, int]:
    """Return the estimated tokens of one answer, in and out."""
    prompt = prompts.user_message(task.shown().card, prompts.delimiter_of(""))
    return prompts.estimate_tokens([system, prompt]), int(judge.decoding["max_tokens"] * ASSUMED)


def execute(*, run: JudgeRun, job: RunningJob) -> dict[str, Any]:
    """Run the job: ask for the answers that are not stored. Called again, it continues.

    An answer is stored before the next one of its thread begins, so no page is asked twice after a stored answer.
    Requests in progress are lost with the worker; their tokens are unknown.
    """
    budget = RunBudget(run)
    with batches.batch():
        JudgeRun.objects.filter(pk=run.pk).update(
            state=State.RUNNING, started_at=run.started_at or timezone.now(), error=""
        )
    stored = run.answers.count()
    job.progress(stored, max(run.requests_count, stored))
    error = ""
    try:
        _check_licences_again(run)
        judge = versions.load(run)
        for answered in judge.answers(tasks_of(run), budget):
            stored += 1
            _store(run, answered, stored, max(run.requests_count, stored))
            job.check_cancelled()
            versions.check_endpoint(run.judge)
    except (BackendError, PassingError) as failure:
        error = str(failure)
    state = State.FAILED if error else State.BUDGET if budget.is_used_up else State.DONE
    with batches.batch(stored, max(run.requests_count, stored)):
        JudgeRun.objects.filter(pk=run.pk).update(state=state, error=error, finished_at=timezone.now())
        _log("end judge", run, job.by, {"state": str(state.value), "answers": stored})
    return {"state": str(state.value), "answers": stored, "error": error}


def _store(run: JudgeRun, answered: Answered, done: int, total: int) -> None:
    task = answered.task
    try:
        with batches.batch(done, total):
            answer = JudgeAnswer.objects.create(
                run=run,
                page_id=task.page.page,
                judge_page_id=task.page.judge_page,
                sample=task.sample,
                order=task.order,
                control=task.control,
                texts=task.shown().codes,
                suspects=list(task.suspects),
                is_valid=answered.value is not None,
                attempts=answered.attempts,
                invalid=answered.invalid,
                invalid_count=len(answered.invalid),
                error=answered.error if answered.value is None else "",
                model=answered.model,
                tokens_in=answered.tokens_in,
                tokens_out=answered.tokens_out,
                is_estimated=answered.is_estimated,
                seconds=answered.seconds,
                raw=answered.raw,
            )
            if answered.value is not None:
                insert(_rows(answer, task.page, answered.value))
    except IntegrityError:
        return  # Another attempt of the job stored the answer first.


def _rows(answer: JudgeAnswer, page: JudgedPage, value: Mapping[str, Any]) -> list[Any]:
    if "left" in value:
        sides = {value["left"]: "left", value["right"]: "right"}
        return [
            JudgePreference(
                answer=answer,
                left_id=page.text_ids.get(value["left"]),
                right_id=page.text_ids.get(value["right"]),
                left_code=value["left"],
                right_code=value["right"],
                number=number,
                criterion=one["criterion"],
                choice=sides.get(one["choice"], one["choice"]),
                reason=one["reason"],
            )
            for number, one in enumerate(value["said"])
        ]
    return [
        JudgeRating(
            answer=answer,
            text_id=page.text_ids.get(text["text"]),
            code=text["text"],
            position=position,
            number=number,
            criterion=one["criterion"],
            value=one["value"],
            is_na=one["na"],
            reason=one["reason"],
            marks=[dict(span) for span in one["spans"]],
        )
        for position, text in enumerate(value["texts"])
        for number, one in enumerate(text["said"])
    ]


def job_ended(job: Job) -> None:
    """Set the state of a run whose job was cancelled or failed, in the transaction that ends the job."""
    state = {JobStatus.CANCELLED: State.STOPPED, JobStatus.FAILED: State.FAILED}.get(JobStatus(job.status))
    if state:
        unfinished = Q(pk=job.params["judgerun"], state__in=(State.WAITING, State.RUNNING))
        JudgeRun.objects.filter(unfinished).update(state=state, error=job.error, finished_at=timezone.now())


def _log(verb: str, run: JudgeRun, by: User | None, after: object) -> None:
    record(actor=by, verb=verb, obj=run, project_id=run.judge.project_id, after=after)


def run_of(pk: int) -> JudgeRun:
    """Return a run with all that its job needs."""
    related = ("judge__project", "judge__project_endpoint", "design__round__project", "design__version", "judge_set")
    return JudgeRun.objects.select_related(*related).get(pk=pk)
