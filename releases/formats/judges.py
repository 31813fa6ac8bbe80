"""Models as judges of the released rating rounds: versions, runs and machine ratings.

``judges/judges.jsonl`` has one version per line, with prompt, decoding and digest. ``runs.jsonl`` has one run per line:
the protocol as the judge read it, counts, tokens and cost. ``ratings.csv`` and ``preferences.csv`` have the valid
answers, with those of controls, and ``failures.csv`` the pages without one. Sources that only judges rated are in
``sources.jsonl``, with their pages. ``worth.jsonl`` has the stored figures of what each judge is worth beside people,
which ``python -m measures.recompute`` recomputes from these files and those of ``ratings/``.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import QuerySet

from evaluation.judge_figures.queries import is_current
from evaluation.judge_figures.reading import own_systems
from evaluation.judging.actions import cost_of
from evaluation.judging.rows import controlled
from evaluation.models import (
    ComparedSystem,
    Judge,
    JudgeAnswer,
    JudgeFigures,
    JudgePage,
    JudgePreference,
    JudgeRating,
    JudgeRun,
    JudgeSource,
    RatingPage,
    RatingSource,
)
from evaluation.results import tidy
from projects.models import Project
from releases.formats.rows import BATCH, csv_row, flag, utc_time

from ..sources.blinding import released_judge_runs
from .notes import Notes

JUDGES, RUNS, SOURCES = "judges/judges.jsonl", "judges/runs.jsonl", "judges/sources.jsonl"
WORTH = "judges/worth.jsonl"
RATINGS, PREFERENCES, FAILURES = "judges/ratings.csv", "judges/preferences.csv", "judges/failures.csv"
_PAGE = ("run", "round", "page", "in_round", "source", "target", "review")
_ANSWER = ("sample", "order", "control", "is_followed", "answer")
RATED = (*_PAGE, "text", "systems", "criterion", "value", "na", "reason", "place", *_ANSWER)
PREFERRED = (*_PAGE, "left", "right", "left_systems", "right_systems", "criterion", "choice", "reason", *_ANSWER)
FAILED = (*_PAGE, "attempts", "invalid", "error", *_ANSWER)


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    runs = released_judge_runs(project)
    if not runs.exists():
        return
    related = ("judge", "design__round", "design__version__protocol", "judge_set")
    found = [(run, _Pages(run)) for run in runs.select_related(*related)]
    yield JUDGES, _judges(runs)
    yield RUNS, (_run(run) for run, _ in found)
    if any(run.judge_set_id for run, _ in found):
        yield SOURCES, _sources(runs)
    if JudgeRating.objects.filter(answer__run__in=runs.order_by()).exists():
        yield RATINGS, _rows(RATED, (row for run, pages in found for row in _ratings(run, pages)))
    if JudgePreference.objects.filter(answer__run__in=runs.order_by()).exists():
        yield PREFERENCES, _rows(PREFERRED, (row for run, pages in found for row in _preferences(run, pages)))
    if JudgeAnswer.objects.filter(run__in=runs.order_by(), is_valid=False).exists():
        yield FAILURES, _rows(FAILED, (row for run, pages in found for row in _failures(run, pages)))
    worth = JudgeFigures.objects.filter(run__in=runs.order_by())
    if worth.exists():
        yield WORTH, _worth(worth)


class _Pages:
    """The pages of a run: key, source, review and authors of texts, by the ids of `RatingPage` and `JudgePage`."""

    def __init__(self, run: JudgeRun) -> None:
        self.followed = controlled(run)
        names = dict(run.design.systems.values_list("number", "name"))
        self.named: dict[tuple[int | None, int | None], tuple[str | None, ...]] = {}
        self.systems: dict[tuple[int | None, int | None], dict[str, str]] = {}
        pages = RatingPage.objects.filter(source__design=run.design).prefetch_related("texts")
        for page in pages.select_related("unit", "source__unit", "source__target"):
            key = (page.pk, None)
            self.named[key] = (page.unit.key, flag(True), *_source(page.source))
            texts = [(text.code, text.system_numbers) for text in page.texts.all()]
            self.systems[key] = {code: tidy.BETWEEN.join(names[n] for n in of) for code, of in texts}
        own_pages = JudgePage.objects.filter(source__judge_set=run.judge_set_id or 0)
        for own in own_pages.select_related("source__unit", "source__target", "source__judge_set"):
            self.named[None, own.pk] = (_page_name(own), flag(False), *_source(own.source))
            self.systems[None, own.pk] = {
                text["code"]: tidy.BETWEEN.join(names[n] for n in text["systems"]) for text in own.texts
            }

    def page(self, run: JudgeRun, answer: JudgeAnswer) -> tuple[Any, ...]:
        key = (answer.page_id, answer.judge_page_id)
        return run.pk, run.design.round.name, *self.named[key]

    def answer(self, answer: JudgeAnswer) -> tuple[Any, ...]:
        has_changed = self.followed.get((answer.page_id, answer.judge_page_id))
        followed = "" if has_changed is None else flag(has_changed)
        return answer.sample, answer.order, answer.control, followed, answer.pk

    def authors(self, answer: JudgeAnswer, code: str) -> str:
        return self.systems[answer.page_id, answer.judge_page_id][code]


def _page_name(page: JudgePage) -> str:
    return f"set {page.source.judge_set.number}, page {page.number + 1}"


def _source(source: RatingSource | JudgeSource) -> tuple[str | None, ...]:
    return source.unit.key, source.target.key if source.target else None, source.review


def _json(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _judges(runs: QuerySet[JudgeRun]) -> Iterator[bytes]:
    for judge in Judge.objects.filter(pk__in=runs.order_by().values("judge")).order_by("name", "number"):
        names = ("name", "number", "endpoint", "model", "family", "prompt", "decoding", "facts", "digest")
        yield _json({name: getattr(judge, name) for name in names} | {"created_at": utc_time(judge.created_at)})


def _run(run: JudgeRun) -> bytes:
    answers = list(run.answers.values_list("is_valid", "invalid_count", "tokens_in", "tokens_out", "control", "model"))
    tokens_in, tokens_out = sum(row[2] for row in answers), sum(row[3] for row in answers)
    cost = cost_of(run, tokens_in, tokens_out)
    version = run.design.version
    return _json(
        {
            "run": run.pk,
            "round": run.design.round.name,
            "judge": run.judge.name,
            "number": run.judge.number,
            "protocol": version.digest,
            "state": run.state,
            "samples": run.samples,
            "both_orders": run.both_orders,
            "requests": run.requests_count,
            "valid": sum(row[0] for row in answers),
            "failed": sum(not row[0] for row in answers),
            "invalid": sum(row[1] for row in answers),
            "controls": sum(bool(row[4]) for row in answers),
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cost": None if cost is None else float(cost),
            "currency": run.currency,
            "host": run.host,
            "is_outside": run.is_outside,
            "licences": run.licences,
            "licence_reason": run.licence_reason,
            "models": sorted({row[5] for row in answers} - {""}),
            "system_message": run.system_message,
            "judge_set": run.judge_set.digest if run.judge_set else None,
            "set": run.judge_set.number if run.judge_set else None,
            "own_systems": sorted(own_systems(run)),
            "started_at": utc_time(run.started_at) if run.started_at else None,
            "finished_at": utc_time(run.finished_at) if run.finished_at else None,
        }
    )


def _worth(rows: QuerySet[JudgeFigures]) -> Iterator[bytes]:
    for each in rows.select_related("run__judge", "run__design__round").order_by("run_id"):
        yield _json(
            {
                "run": each.run_id,
                "round": each.run.design.round.name,
                "judge": str(each.run.judge),
                "group": each.group,
                "rule": each.rule,
                "figures": json.loads(each.figures) if is_current(each.run, each) else None,
            }
        )


def _sources(runs: QuerySet[JudgeRun]) -> Iterator[bytes]:
    sources = JudgeSource.objects.filter(judge_set__in=runs.order_by().values("judge_set"))
    related = sources.select_related("unit", "target", "judge_set__design__round").prefetch_related("pages")
    systems = ComparedSystem.objects.filter(design__judge_sets__in=runs.order_by().values("judge_set"))
    names = {(design, number): name for design, number, name in systems.values_list("design", "number", "name")}
    for source in related.iterator(chunk_size=BATCH):
        design = source.judge_set.design
        unit, target, review = _source(source)
        yield _json(
            {
                "round": design.round.name,
                "set": source.judge_set.number,
                "number": source.number,
                "source": unit,
                "target": target,
                "review": review,
                "shown": source.material,
                "pages": [
                    {
                        "page": _page_name(page),
                        "texts": [
                            {"text": text["code"], "systems": [names[design.pk, n] for n in text["systems"]]}
                            for text in page.texts
                        ],
                    }
                    for page in source.pages.all()
                ],
            }
        )


def _rows(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> Iterator[bytes]:
    yield csv_row(columns)
    yield from map(csv_row, rows)


def _ratings(run: JudgeRun, pages: _Pages) -> Iterator[tuple[Any, ...]]:
    rows = JudgeRating.objects.filter(answer__run=run).select_related("answer").order_by("pk")
    for row in rows.iterator(chunk_size=BATCH):
        answer = row.answer
        said = (row.criterion, row.value, flag(row.is_na), row.reason, row.position)
        text = (row.code, pages.authors(answer, row.code))
        yield (*pages.page(run, answer), *text, *said, *pages.answer(answer))


def _preferences(run: JudgeRun, pages: _Pages) -> Iterator[tuple[Any, ...]]:
    rows = JudgePreference.objects.filter(answer__run=run).select_related("answer").order_by("pk")
    for row in rows.iterator(chunk_size=BATCH):
        answer, sides = row.answer, (row.left_code, row.right_code)
        authors = (pages.authors(answer, code) for code in sides)
        said = (row.criterion, row.choice, row.reason)
        yield (*pages.page(run, answer), *sides, *authors, *said, *pages.answer(answer))


def _failures(run: JudgeRun, pages: _Pages) -> Iterator[tuple[Any, ...]]:
    for answer in run.answers.filter(is_valid=False).order_by("pk").iterator(chunk_size=BATCH):
        said = (answer.attempts, json.dumps(answer.invalid, ensure_ascii=False), answer.error)
        yield (*pages.page(run, answer), *said, *pages.answer(answer))
