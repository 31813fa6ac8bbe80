"""What the pages of judges show: versions, runs with their counts, estimates, failures and suspicious texts."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum

from generation.project_endpoints.queries import rows as endpoint_rows
from measures.unit_names import unit_name
from projects.jobs.queries import fresh_job
from projects.models import Member, Project
from projects.permissions import Names

from ..models import Control, Judge, JudgeAnswer, JudgePage, JudgeRun, JudgeSet, RatingDesign, RatingPage
from . import prompts, sets, versions
from .actions import ASSUMED, cost_of, estimate_of, licences_of, pages_of_run, system_message_of
from .asking import Task
from .pages import counts_of, judge_page_ids, page_ids, pages_of_round, pages_of_set
from .rows import PageKey, controlled
from .rows import judge_preferences as judge_preferences
from .rows import judge_ratings as judge_ratings

Json = dict[str, Any]
#: Number of pages from which tokens are estimated.
SAMPLED = 25
_RELATED = ("judge__project", "design__round", "design__version__protocol", "judge_set", "created_by", "job")


def judges(project: Project) -> QuerySet[Judge]:
    return Judge.objects.filter(project=project).select_related("created_by").order_by("name", "-number")


def judge_row(judge: Judge, names: Names) -> Json:
    return {
        "id": judge.pk,
        "name": judge.name,
        "number": judge.number,
        "endpoint": judge.endpoint,
        "model": judge.model,
        "family": judge.family,
        "prompt": judge.prompt,
        "decoding": judge.decoding,
        "facts": judge.facts,
        "digest": judge.digest,
        "by": names.of(judge.created_by),
        "created_at": judge.created_at,
    }


def choices(project: Project) -> Json:
    """Return what the forms offer: endpoints, local models, parameters, and rounds that a judge can rate."""
    designs = RatingDesign.objects.filter(round__project=project).exclude(round__status="preparing")
    return {
        "endpoints": endpoint_rows(project),
        "models": local_models(),
        "prompt": versions.PROMPT,
        "decoding": versions.DECODING,
        "rounds": [
            {
                "id": design.round_id,
                "name": design.round.name,
                "kind": design.round.kind,
                "is_open": design.round.is_open,
                "protocol": f"{design.version.protocol.name}, version {design.version.number}",
            }
            for design in designs.select_related("round", "version__protocol").order_by("-round")
        ],
    }


def local_models() -> list[str]:
    from generation.backends.weights import local_folders

    return local_folders()


# Before a run


def preview(judge: Judge, design: RatingDesign, number: int = 0) -> Json:
    """Return the messages of one page exactly as a run sends them, except the random part of the delimiter."""
    ids = page_ids(design)
    page = next(pages_of_round(design, ids[number : number + 1]), None) if 0 <= number < len(ids) else None
    if page is None:
        return {"pages": len(ids), "page": "", "messages": [], "suspects": []}
    system = system_message_of(judge, page)
    user = prompts.user_message(page.card, prompts.delimiter_of("preview"))
    return {
        "pages": len(ids),
        "page": page.name,
        "messages": prompts.messages(system, user),
        "suspects": [one["sentence"] for one in page.suspects()],
    }


def estimate(
    judge: Judge, design: RatingDesign, judge_set: JudgeSet | None, *, samples: int, both_orders: bool
) -> Json:
    """Return which texts a run would send, to which host, and its tokens and cost, estimated from some pages."""
    endpoint = None if judge.is_local else versions.endpoint_of(judge)
    counts = counts_of(design, judge_set)
    requests = counts.requests(samples, both_orders or design.round.kind == "compare")
    tokens_in, tokens_out = _estimated_tokens(judge, design, judge_set)
    own = judge.project_endpoint
    run = JudgeRun(
        judge=judge, design=design, price_in=own.price_in if own else None, price_out=own.price_out if own else None
    )
    cost = cost_of(run, tokens_in * requests, tokens_out * requests)
    return {
        "host": endpoint.host if endpoint else "",
        "is_outside": bool(endpoint and endpoint.is_outside),
        "pages": counts.pages,
        "texts": counts.texts,
        "sources": design.sources.count() + (judge_set.sources.count() if judge_set else 0),
        "answers": requests,
        "tokens_in": tokens_in * requests,
        "tokens_out": tokens_out * requests,
        "cost": cost,
        "currency": own.currency if own else "",
        "licences": licences_of(design, judge_set),
        "other_sources": len(sets.other_units(design)),
    }


def _estimated_tokens(judge: Judge, design: RatingDesign, judge_set: JudgeSet | None) -> tuple[int, int]:
    """Return the mean tokens of one answer, in and out, over pages spread over the run."""
    pages = list(islice(pages_of_run(design, None), SAMPLED))
    if judge_set:
        pages += pages_of_set(design, judge_page_ids(judge_set)[:SAMPLED])
    if not pages:
        return 0, int(judge.decoding["max_tokens"] * ASSUMED)
    system = system_message_of(judge, pages[0])
    sizes = [estimate_of(judge, system, Task(page, 0, 0, "")) for page in pages]
    return sum(size for size, _ in sizes) // len(sizes), sizes[0][1]


def set_rows(design: RatingDesign) -> list[Json]:
    return [
        {"id": one.pk, "number": one.number, "sources": len(one.plan["sources"]), "pages": len(one.plan["pages"])}
        for one in JudgeSet.objects.filter(design=design)
    ]


# Runs


def runs(project: Project) -> QuerySet[JudgeRun]:
    return JudgeRun.objects.of_project(project.pk).select_related(*_RELATED).order_by("-pk")


def run_rows(found: Sequence[JudgeRun], member: Member) -> list[Json]:
    """Return runs with their counts. The number of queries does not depend on the number of runs."""
    names = Names(member)
    answers = JudgeAnswer.objects.filter(run__in=found).order_by().values("run")
    counted: dict[int, Json] = {
        row["run"]: dict(row)
        for row in answers.annotate(
            n=Count("pk"),
            valid=Count("pk", filter=Q(is_valid=True, control=Control.NONE)),
            valid_controls=Count("pk", filter=Q(is_valid=True) & ~Q(control=Control.NONE)),
            controls=Count("pk", filter=~Q(control=Control.NONE)),
            invalid=Sum("invalid_count"),
            tokens_in=Sum("tokens_in"),
            tokens_out=Sum("tokens_out"),
            seconds=Sum("seconds"),
            estimated=Count("pk", filter=Q(is_estimated=True)),
            first_model=Min("model", filter=~Q(model="")),
            last_model=Max("model"),
        )
    }
    return [_run_row(run, counted.get(run.pk, {}), names) for run in found]


def _run_row(run: JudgeRun, counts: Json, names: Names) -> Json:
    answers, valid = counts.get("n") or 0, counts.get("valid") or 0
    tokens_in, tokens_out = (counts.get(name) or 0 for name in ("tokens_in", "tokens_out"))
    cost = cost_of(run, tokens_in, tokens_out)
    models = {counts.get("first_model") or "", counts.get("last_model") or ""} - {""}
    return {
        "id": run.pk,
        "judge": run.judge_id,
        "judge_name": str(run.judge),
        "round": run.design.round_id,
        "round_name": run.design.round.name,
        "round_is_open": run.design.round.is_open,
        "protocol": f"{run.design.version.protocol.name}, version {run.design.version.number}",
        "other_sources": len(run.judge_set.plan["sources"]) if run.judge_set else 0,
        "state": run.state,
        "error": run.error,
        "job": run.job_id,
        "samples": run.samples,
        "both_orders": run.both_orders,
        "requests": run.requests_count,
        "answers": answers,
        "valid": valid,
        "failed": answers - valid - (counts.get("valid_controls") or 0),
        "invalid": counts.get("invalid") or 0,
        "controls": counts.get("controls") or 0,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "tokens_are_estimated": bool(counts.get("estimated")),
        "cost": cost,
        "currency": run.currency,
        "max_cost": run.max_cost,
        "max_tokens": run.max_tokens,
        "seconds": counts.get("seconds") or 0.0,
        "host": run.host,
        "is_outside": run.is_outside,
        "licences": run.licences,
        "licence_reason": run.licence_reason,
        "models": sorted(models),
        "by": names.of(run.created_by),
        "created_at": run.created_at,
        "finished_at": run.finished_at,
    }


def run_page(run: JudgeRun, member: Member) -> Json:
    """Return a run with its suspicious pages and the progress of its job."""
    [row] = run_rows([run], member)
    found = controlled(run)
    names = page_names(list(found))
    sentences = _sentences(run)
    return row | {
        "system_message": run.system_message,
        "progress": _progress(run),
        "suspects": [
            {"page": names[key], "is_followed": has_changed, "sentences": sentences.get(key, [])}
            for key, has_changed in found.items()
        ],
    }


def _progress(run: JudgeRun) -> Json | None:
    if run.job is None:
        return None
    job = fresh_job(run.job)
    return {"id": job.pk, "status": job.status, "done": job.done, "total": job.total, "note": job.note}


def _sentences(run: JudgeRun) -> dict[PageKey, list[str]]:
    rows = JudgeAnswer.objects.filter(run=run).exclude(suspects=[]).order_by("pk")
    return {
        (page, own): [one["sentence"] for one in suspects]
        for page, own, suspects in rows.values_list("page", "judge_page", "suspects")
    }


def failures(run: JudgeRun) -> QuerySet[JudgeAnswer]:
    return JudgeAnswer.objects.filter(run=run, is_valid=False).order_by("pk")


def failure_rows(found: Sequence[JudgeAnswer]) -> list[Json]:
    names = page_names([(answer.page_id, answer.judge_page_id) for answer in found])
    return [
        {
            "id": answer.pk,
            "page": names[answer.page_id, answer.judge_page_id],
            "sample": answer.sample,
            "order": answer.order,
            "control": answer.control,
            "attempts": answer.attempts,
            "invalid": answer.invalid,
            "error": answer.error,
            "raw": answer.raw[:2000],
        }
        for answer in found
    ]


def page_names(keys: Sequence[PageKey]) -> dict[PageKey, str]:
    """Return the names of pages: that of the source, without the systems. Two queries."""
    rows = RatingPage.objects.filter(pk__in=[pk for pk, _ in keys if pk])
    names: dict[PageKey, str] = {
        (pk, None): f"{unit_name(key)}, page {number + 1}"
        for pk, key, number in rows.values_list("pk", "source__unit__key", "number")
    }
    others = JudgePage.objects.filter(pk__in=[pk for _, pk in keys if pk])
    names |= {
        (None, pk): f"{unit_name(key)}, page {number + 1}"
        for pk, key, number in others.values_list("pk", "source__unit__key", F("number"))
    }
    return names
