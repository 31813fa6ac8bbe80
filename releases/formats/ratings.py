"""What was rated and what raters said of it, of rounds that are closed and unblinded (`releases.sources.blinding`).

``ratings/rounds.jsonl``: one round a line, its design, seed, protocol and who took part. ``ratings.csv`` and
``preferences.csv`` have a row for each thing that was said, of answers that are counted, what was asked again included;
``spans.csv`` the passages. ``texts.csv`` says what was shown and who wrote it, letter by letter; ``sources.jsonl`` what
stood beside it; ``figures.jsonl`` what the round came to, as it was stored, which ``python -m measures.again`` takes
anew from the other files; ``methods.md`` is a paragraph for a paper.
"""

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any

from django.db.models import F, QuerySet

from evaluation.models import Entrant, PageText, Preference, Rating, RatingDesign, RatingSource, RatingSpan
from evaluation.results import tidy
from evaluation.results.reckoned import ANSWERS, RULES, SCORED, stored
from evaluation.results.said import figures_of
from generation import metrics
from generation.models import Scoring
from generation.runs.at_hand import published_runs
from measures.ratings import RULE
from measures.ratings.released import WAYS, released
from projects.models import Outcome, Project, Round

from ..sources.blinding import told
from . import methods
from .notes import Notes
from .rows import BATCH, flag, line, time

ROUNDS, SOURCES, METHODS = "ratings/rounds.jsonl", "ratings/sources.jsonl", "ratings/methods.md"
RATINGS, PREFERENCES = "ratings/ratings.csv", "ratings/preferences.csv"
SPANS, TEXTS = "ratings/spans.csv", "ratings/texts.csv"
FIGURES = "ratings/figures.jsonl"
#: Options of a round by which raters and pages are left out of figures; results are given with and without.
EXCLUSIONS = ("exclude_checks", "exclude_fast")

MARKED = ("round", "page", "text", "rater", "criterion", "repeat", "is_quote", "within", "study", "start", "end",
          "quote", "category", "severity", "reason", "answer")  # fmt: skip
SHOWN = (*tidy.PAGE, "text", "number", "system", "shown", "exact", "is_check", "made_from")


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    designs = told(project)
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
    yield METHODS, methods.paragraphs(project, designs)


def _counted(said: QuerySet[Any], rounds: QuerySet[Any]) -> QuerySet[Any]:
    """Of answers that stand, in the order in which answers are released."""
    return said.filter(
        answer__assignment__round__in=rounds, answer__assignment__current_answer=F("answer"),
        answer__assignment__number__gte=1, answer__outcome=Outcome.ANSWERED,
    )  # fmt: skip


def _json(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _rounds(project: Project, designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    pseudonyms = dict(project.members.values_list("user_id", "pseudonym"))
    for design in designs.select_related("round", "version__protocol", "unblinding").iterator(chunk_size=BATCH):
        version, round = design.version, design.round
        entrants = design.entrants.select_related("run__version__system")
        yield _json(
            {
                "round": round.name, "kind": round.kind, "purpose": round.purpose, "seed": round.seed,
                "secret": design.secret or None, "design": design.digest, "plan": design.whole,
                "exclusions": exclusions(round),
                "protocol": {
                    "name": version.protocol.name, "number": version.number, "digest": version.digest,
                    "content": version.content,
                },
                "entrants": [_entrant(entrant) for entrant in entrants],
                "unblinded_at": time(design.unblinding.at),
                "unblinded_by": pseudonyms.get(design.unblinding.by_id or 0),
            }
        )  # fmt: skip


def _figures(project: Project, designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    """``figures`` is null where none were reckoned by the rule of today, of the answers that stand. ``scored``: what
    metrics are called in them, by metric and figure; null where they are of scores that the release does not have."""
    lacking = _without_scores(project, designs)
    for design in designs.select_related("round"):
        found = stored(design)
        current = found is not None and not {RULES, ANSWERS} & set(found.outdated)
        scored: dict[str, tuple[str, str]] | None = None
        if found and current and SCORED not in found.outdated and design.pk not in lacking:
            named = {row["metric"] for way in WAYS if found.figures[way] for row in found.figures[way]["metrics"]}
            scored = {name: key for name, key in _metrics().items() if name in named}
        figures = released(found.figures, scored=scored is not None) if found and current else None
        yield _json(
            {"round": design.round.name, "rule": RULE, "figures": figures, "scored": scored, "numpy": version("numpy")}
        )


def _metrics() -> dict[str, tuple[str, str]]:
    """What statistics of ratings call a figure of a metric -> both."""
    return {name: (metric.key, figure.key) for metric in metrics.every() for name, figure in figures_of(metric.key)}


def _without_scores(project: Project, designs: QuerySet[RatingDesign]) -> set[int]:
    """The designs of which a run is scored that the release does not have: results are about another one by now."""
    there = {run.pk for run in published_runs(project)}
    rated = Entrant.objects.filter(design__in=designs.order_by().values("pk"), run__isnull=False)
    scored = Scoring.objects.shown().filter(run__in=rated.values("run")).values("run")
    return {design for design, run in rated.filter(run__in=scored).values_list("design", "run") if run not in there}


def exclusions(round: Round) -> dict[str, Any]:
    """What of figures the round's lead declared beforehand to leave out."""
    said = {name: round.options.get(name) for name in EXCLUSIONS}
    return {name: value for name, value in said.items() if value is not None and value is not False}


def _entrant(entrant: Entrant) -> dict[str, Any]:
    found = {"number": entrant.number, "name": entrant.name, "run": entrant.run_id}
    if entrant.run is None:
        return found
    made = entrant.run.version
    return found | {"system": made.system.name, "version": made.number, "hash": made.hash, "level": made.level}


def _sources(designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    rows = RatingSource.objects.filter(design__in=designs.order_by().values("pk")).order_by("design__round", "number")
    names = ("round", "number", "source_type", "source", "target", "review", "shown", "gold")
    for row in rows.values_list(
        "design__round__name", "number", "unit__type", "unit__key", "target__key", "review", "shown", "gold"
    ).iterator(chunk_size=BATCH):
        yield _json(dict(zip(names, row, strict=True)))


def _texts(designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    yield line(SHOWN)
    rows = PageText.objects.filter(page__source__design__in=designs.order_by().values("pk"))
    for *cells, check, made_from in rows.order_by(
        "page__source__design__round", "page__number", "number", "pk", "entries__entrant__number"
    ).values_list(
        "page__source__design__round__name", "page__unit__key", *tidy.source("page__source__"), "code",
        "entries__entrant__number", "entries__entrant__name", "shown", "entries__exact", "is_check", "made_from",
    ).iterator(chunk_size=BATCH):  # fmt: skip
        yield line([*cells, flag(check), made_from])


def _ratings(project: Project, ratings: QuerySet[Rating], designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    yield line(tidy.RATED)
    yield from map(line, tidy.rated(ratings, tidy.named(designs), reasons=project.publish_comments))


def _preferences(
    project: Project, preferences: QuerySet[Preference], designs: QuerySet[RatingDesign]
) -> Iterator[bytes]:
    yield line(tidy.PREFERRED)
    yield from map(line, tidy.preferred(preferences, tidy.named(designs), reasons=project.publish_comments))


def _spans(project: Project, spans: QuerySet[RatingSpan]) -> Iterator[bytes]:
    yield line(MARKED)
    order = (f"rating__{name}" for name in (*tidy.ORDER, "place", "number"))
    for (name, page, text, rater, criterion, repeat, is_quote, within, study, start, end, quote, category, severity,
         reason, answer) in spans.order_by(*order, "pk").values_list(
        "rating__answer__assignment__round__name", "rating__answer__assignment__unit__key", "rating__text__code",
        "rating__answer__author__pseudonym", "rating__criterion", "rating__answer__assignment__repeat", "is_quote",
        "within", "study", "start", "end", "quote", "category", "severity", "reason", "rating__answer",
    ).iterator(chunk_size=BATCH):  # fmt: skip
        why = reason if project.publish_comments else ""
        yield line([name, page, text, rater, criterion, repeat, flag(is_quote), within, study if within == "source"
                    else "", start, end, quote, category, severity, why, answer])  # fmt: skip
