"""What was rated and what raters said of it, of rounds that are closed and unblinded (`releases.sources.blinding`).

``ratings/rounds.jsonl``: one round a line, its design, seed, protocol and who took part. ``ratings.csv`` and
``preferences.csv`` have a row for each thing that was said, of answers that are counted, what was asked again included;
``spans.csv`` the passages. ``texts.csv`` says what was shown and who wrote it, letter by letter; ``sources.jsonl`` what
stood beside it; ``methods.md`` is a paragraph for a paper. Every table of ratings can be made again from these files.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import F, QuerySet

from evaluation.models import Entrant, PageText, Preference, Rating, RatingDesign, RatingSource, RatingSpan
from projects.models import Outcome, Project, Round

from ..sources.blinding import told
from . import methods
from .notes import Notes
from .rows import BATCH, flag, line, time

ROUNDS, SOURCES, METHODS = "ratings/rounds.jsonl", "ratings/sources.jsonl", "ratings/methods.md"
RATINGS, PREFERENCES = "ratings/ratings.csv", "ratings/preferences.csv"
SPANS, TEXTS = "ratings/spans.csv", "ratings/texts.csv"
#: Between the names of those who wrote the same; `TEXTS` has a row for each.
BETWEEN = " | "
#: Options of a round by which raters and pages are left out of figures; results are given with and without.
EXCLUSIONS = ("exclude_checks", "exclude_fast")

_PAGE = ("round", "page", "source", "target", "review")
RATED = (*_PAGE, "text", "systems", "rater", "criterion", "value", "na", "prefilled", "reason", "place", "repeat",
         "active_ms", "is_check", "answer")  # fmt: skip
PREFERRED = (*_PAGE, "left", "right", "left_systems", "right_systems", "rater", "criterion", "choice", "reason",
             "repeat", "active_ms", "is_check", "answer")  # fmt: skip
MARKED = ("round", "page", "text", "rater", "criterion", "repeat", "is_quote", "within", "study", "start", "end",
          "quote", "category", "severity", "reason", "answer")  # fmt: skip
SHOWN = (*_PAGE, "text", "number", "system", "shown", "exact", "is_check", "made_from")

#: As answers are released, then as the page had it.
_ORDER = tuple(
    f"answer__{name}"
    for name in ("assignment__round_id", "assignment__position", "assignment__number", "assignment__repeat",
                 "assignment_id")
)  # fmt: skip


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
                "design": design.digest, "plan": design.plan, "exclusions": exclusions(round),
                "protocol": {
                    "name": version.protocol.name, "number": version.number, "digest": version.digest,
                    "content": version.content,
                },
                "entrants": [_entrant(entrant) for entrant in entrants],
                "unblinded_at": time(design.unblinding.at),
                "unblinded_by": pseudonyms.get(design.unblinding.by_id or 0),
            }
        )  # fmt: skip


def exclusions(round: Round) -> dict[str, Any]:
    """What of figures the round's lead declared beforehand to leave out."""
    return {name: round.options[name] for name in EXCLUSIONS if round.options.get(name) not in (None, False)}


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
        "page__source__design__round__name", "page__unit__key", *_source("page__source__"), "code",
        "entries__entrant__number", "entries__entrant__name", "shown", "entries__exact", "is_check", "made_from",
    ).iterator(chunk_size=BATCH):  # fmt: skip
        yield line([*cells, flag(check), made_from])


def _source(path: str) -> tuple[str, ...]:
    return f"{path}unit__key", f"{path}target__key", f"{path}review"


def _names(designs: QuerySet[RatingDesign]) -> dict[int, dict[int, str]]:
    """Round -> number -> what tables call who takes part."""
    found: dict[int, dict[int, str]] = {}
    rows = Entrant.objects.filter(design__in=designs.order_by().values("pk"))
    for round, number, name in rows.values_list("design__round", "number", "name"):
        found.setdefault(round, {})[number] = name
    return found


def _systems(names: dict[int, str], numbers: list[int]) -> str:
    return BETWEEN.join(names[number] for number in numbers)


_SAID = ("answer__assignment__round", "answer__assignment__round__name", "answer__assignment__unit__key")
_BY = ("answer__author__pseudonym", "answer__assignment__repeat", "answer__active_ms")


def _ratings(project: Project, ratings: QuerySet[Rating], designs: QuerySet[RatingDesign]) -> Iterator[bytes]:
    yield line(RATED)
    systems = _names(designs)
    for (round, name, page, source, target, review, rater, repeat, ms, text, numbers, check, criterion, value, na,
         prefilled, reason, place, answer) in ratings.order_by(*_ORDER, "place", "number").values_list(
        *_SAID, *_source("text__page__source__"), *_BY, "text__code", "text__entrants", "text__is_check", "criterion",
        "value", "is_na", "is_prefilled", "reason", "place", "answer",
    ).iterator(chunk_size=BATCH):  # fmt: skip
        why = reason if project.publish_comments else ""
        yield line([name, page, source, target, review, text, _systems(systems[round], numbers), rater, criterion,
                    value, flag(na), flag(prefilled), why, place, repeat, ms, flag(check), answer])  # fmt: skip


def _preferences(
    project: Project, preferences: QuerySet[Preference], designs: QuerySet[RatingDesign]
) -> Iterator[bytes]:
    yield line(PREFERRED)
    systems = _names(designs)
    rows = preferences.order_by(*_ORDER, "number")
    for (round, name, page, source, target, review, rater, repeat, ms, left, of_left, left_bad, right, of_right,
         right_bad, criterion, choice, reason, answer) in rows.values_list(
        *_SAID, *_source("left__page__source__"), *_BY, "left__code", "left__entrants", "left__is_check",
        "right__code", "right__entrants", "right__is_check", "criterion", "choice", "reason", "answer",
    ).iterator(chunk_size=BATCH):  # fmt: skip
        names = systems[round]
        why = reason if project.publish_comments else ""
        yield line([name, page, source, target, review, left, right, _systems(names, of_left),
                    _systems(names, of_right), rater, criterion, choice, why, repeat, ms,
                    flag(left_bad or right_bad), answer])  # fmt: skip


def _spans(project: Project, spans: QuerySet[RatingSpan]) -> Iterator[bytes]:
    yield line(MARKED)
    order = (f"rating__{name}" for name in (*_ORDER, "place", "number"))
    for (name, page, text, rater, criterion, repeat, is_quote, within, study, start, end, quote, category, severity,
         reason, answer) in spans.order_by(*order, "pk").values_list(
        "rating__answer__assignment__round__name", "rating__answer__assignment__unit__key", "rating__text__code",
        "rating__answer__author__pseudonym", "rating__criterion", "rating__answer__assignment__repeat", "is_quote",
        "within", "study", "start", "end", "quote", "category", "severity", "reason", "rating__answer",
    ).iterator(chunk_size=BATCH):  # fmt: skip
        why = reason if project.publish_comments else ""
        yield line([name, page, text, rater, criterion, repeat, flag(is_quote), within, study if within == "source"
                    else "", start, end, quote, category, severity, why, answer])  # fmt: skip
