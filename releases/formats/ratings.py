"""Rated texts and their ratings, for rounds that are closed and unblinded (`releases.sources.blinding`).

``ratings/rounds.jsonl`` has one round per line: design, seed, protocol and systems. ``ratings.csv`` and
``preferences.csv`` have one row per rating or preference of counted answers, including repeats. ``spans.csv`` has the
marked passages.

``texts.csv`` has the shown and the exact texts with their authors. ``sources.jsonl`` has the material shown beside
them. ``figures.jsonl`` has the stored results, which ``python -m measures.recompute`` recomputes from the other files.
``methods.md`` is a paragraph for a paper.
"""

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any

from django.db.models import F, QuerySet

from evaluation.models import ComparedSystem, PageText, Preference, Rating, RatingDesign, RatingSource, RatingSpan
from evaluation.results import tidy
from evaluation.results.computed import ANSWERS, RULES, SCORED, stored
from evaluation.results.rating_rows import figures_of
from generation import metrics
from generation.latest_runs import published_runs
from generation.models import Scoring
from measures.ratings import RULE
from measures.ratings.m3 import WAYS, released
from projects.models import Outcome, Project, Round
from releases.formats.rows import BATCH, csv_row, flag, utc_time

from ..sources.blinding import released_designs
from . import methods
from .notes import Notes

ROUNDS, SOURCES, METHODS = "ratings/rounds.jsonl", "ratings/sources.jsonl", "ratings/methods.md"
RATINGS, PREFERENCES = "ratings/ratings.csv", "ratings/preferences.csv"
SPANS, TEXTS = "ratings/spans.csv", "ratings/texts.csv"
FIGURES = "ratings/figures.jsonl"
#: Options of a round that exclude raters and pages from figures. Results are given with and without exclusions.
EXCLUSIONS = ("exclude_checks", "exclude_fast")

SPAN_COLUMNS = (
    "round",
    "page",
    "text",
    "rater",
    "criterion",
    "repeat",
    "is_quote",
    "within",
    "study",
    "start",
    "end",
    "quote",
    "category",
    "severity",
    "reason",
    "answer",
)
TEXT_COLUMNS = (*tidy.PAGE, "text", "number", "system", "shown", "exact", "is_check", "made_from")


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    designs = released_designs(project)
    if not designs.exists():
        return
    rounds = designs.values("round")
    yield ROUNDS, _rounds(project, designs)
    yield SOURCES, _sources(designs)
    yield TEXTS, _texts(designs)
    ratings, preferences = _counted(Rating.objects.all(), rounds), _counted(Preference.objects.all(), rounds)
    if ratings.exists():
        yield RATINGS, _ratings(project, ratings, designs)
    if preferences.exists():
        yield PREFERENCES, _preferences(project, preferences, designs)
    spans = RatingSpan.objects.filter(rating__in=ratings.order_by().values("pk"))
    if spans.exists():
        yield SPANS, _spans(project, spans)
    yield FIGURES, _figures(project, designs)
    yield METHODS, methods.paragraphs(project, notes)


def _counted(rows: QuerySet[Any], rounds: QuerySet[Any]) -> QuerySet[Any]:
    """Return the rows of current counted answers, in the order in which answers are released."""
    return rows.filter(
        answer__assignment__round__in=rounds,
        answer__assignment__current_answer=F("answer"),
        answer__assignment__number__gte=1,
        answer__outcome=Outcome.ANSWERED,
    )


def _json(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _rounds(project: Project, designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    pseudonyms = dict(project.members.with_account().values_list("user_id", "pseudonym"))
    for design in designs.select_related("round", "version__protocol", "unblinding").iterator(chunk_size=BATCH):
        version, round = design.version, design.round
        systems = design.systems.select_related("run__version__system")
        yield _json(
            {
                "round": round.name,
                "kind": round.kind,
                "purpose": round.purpose,
                "seed": round.seed,
                **({"rater_group": round.rater_group} if round.rater_group else {}),
                "secret": design.secret or None,
                "design": design.digest,
                "plan": design.whole,
                "exclusions": exclusions(round),
                "protocol": {
                    "name": version.protocol.name,
                    "number": version.number,
                    "digest": version.digest,
                    "content": version.content,
                },
                "entrants": [_system(system) for system in systems],
                "unblinded_at": utc_time(design.unblinding.at),
                "unblinded_by": pseudonyms.get(design.unblinding.by_id or 0),
            }
        )


def _figures(project: Project, designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    """Yield the figures of each round.

    ``figures`` is null if there are none for the current rule and the current answers. ``scored`` maps the names of
    metrics in the figures to metric and figure. It is null if the figures use scores that are not in the release.
    """
    without_scores = _without_scores(project, designs)
    for design in designs.select_related("round"):
        results = stored(design)
        current = results is not None and not {RULES, ANSWERS} & set(results.outdated)
        scored: dict[str, tuple[str, str]] | None = None
        if results and current and SCORED not in results.outdated and design.pk not in without_scores:
            named = {row["metric"] for way in WAYS if results.figures[way] for row in results.figures[way]["metrics"]}
            scored = {name: key for name, key in _metrics().items() if name in named}
        figures = released(results.figures, scored=scored is not None) if results and current else None
        yield _json(
            {"round": design.round.name, "rule": RULE, "figures": figures, "scored": scored, "numpy": version("numpy")}
        )


def _metrics() -> dict[str, tuple[str, str]]:
    """Map the name of a metric's figure in rating statistics to the keys of metric and figure."""
    return {name: (metric.key, figure.key) for metric in metrics.every() for name, figure in figures_of(metric.key)}


def _without_scores(project: Project, designs: QuerySet[RatingDesign]) -> set[int]:
    """Return the designs with a scored run that the release lacks, because results now use another run."""
    published_ids = {run.pk for run in published_runs(project)}
    rated = ComparedSystem.objects.filter(design__in=designs.order_by().values("pk"), run__isnull=False)
    scored = Scoring.objects.latest_finished().filter(run__in=rated.values("run")).values("run")
    return {
        design for design, run in rated.filter(run__in=scored).values_list("design", "run") if run not in published_ids
    }


def exclusions(round: Round) -> dict[str, Any]:
    """Return the exclusions from figures that the round's lead declared beforehand."""
    options = {name: round.options.get(name) for name in EXCLUSIONS}
    return {name: value for name, value in options.items() if value is not None and value is not False}


def _system(system: ComparedSystem) -> dict[str, Any]:
    row = {"number": system.number, "name": system.name, "run": system.run_id}
    if system.run is None:
        return row
    system_version = system.run.version
    return row | {
        "system": system_version.system.name,
        "version": system_version.number,
        "hash": system_version.hash,
        "level": system_version.level,
    }


def _sources(designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    rows = RatingSource.objects.filter(design__in=designs.order_by().values("pk")).order_by("design__round", "number")
    names = ("round", "number", "source_type", "source", "target", "review", "shown", "gold")
    for row in rows.values_list(
        "design__round__name", "number", "unit__type", "unit__key", "target__key", "review", "material", "gold"
    ).iterator(chunk_size=BATCH):
        yield _json(dict(zip(names, row, strict=True)))


def _texts(designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    yield csv_row(TEXT_COLUMNS)
    rows = PageText.objects.filter(page__source__design__in=designs.order_by().values("pk"))
    for *cells, check, made_from in (
        rows.order_by("page__source__design__round", "page__number", "number", "pk", "entries__system__number")
        .values_list(
            "page__source__design__round__name",
            "page__unit__key",
            *tidy.source("page__source__"),
            "code",
            "entries__system__number",
            "entries__system__name",
            "displayed_text",
            "entries__exact",
            "is_check",
            "made_from",
        )
        .iterator(chunk_size=BATCH)
    ):
        yield csv_row([*cells, flag(check), made_from])


def _ratings(project: Project, ratings: QuerySet[Rating], designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    yield csv_row(tidy.RATED)
    yield from map(csv_row, tidy.rated(ratings, tidy.named(designs), reasons=project.publish_comments))


def _preferences(
    project: Project, preferences: QuerySet[Preference], designs: QuerySet[RatingDesign]
) -> Iterator[bytes]:
    yield csv_row(tidy.PREFERRED)
    yield from map(csv_row, tidy.preferred(preferences, tidy.named(designs), reasons=project.publish_comments))


def _spans(project: Project, spans: QuerySet[RatingSpan]) -> Iterator[bytes]:
    yield csv_row(SPAN_COLUMNS)
    order = (f"rating__{name}" for name in (*tidy.ORDER, "position", "number"))
    for (
        name,
        page,
        text,
        rater,
        criterion,
        repeat,
        is_quote,
        within,
        study,
        start,
        end,
        quote,
        category,
        severity,
        reason,
        answer,
    ) in (
        spans.order_by(*order, "pk")
        .values_list(
            "rating__answer__assignment__round__name",
            "rating__answer__assignment__unit__key",
            "rating__text__code",
            "rating__answer__author__pseudonym",
            "rating__criterion",
            "rating__answer__assignment__repeat",
            "is_quote",
            "within",
            "study",
            "start",
            "end",
            "quote",
            "category",
            "severity",
            "reason",
            "rating__answer",
        )
        .iterator(chunk_size=BATCH)
    ):
        why = reason if project.publish_comments else ""
        yield csv_row(
            [
                name,
                page,
                text,
                rater,
                criterion,
                repeat,
                flag(is_quote),
                within,
                study if within == "source" else "",
                start,
                end,
                quote,
                category,
                severity,
                why,
                answer,
            ]
        )
