"""A file of ratings becomes a round that is closed and unblinded, with its pages, its raters and what they said."""

import uuid as uuids
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from django.utils import timezone

from api.parameters import defaults
from audit.digests import canonical
from audit.log import record
from projects import kinds
from projects.actions.answers import insert_answers
from projects.actions.elsewhere import member_of_rater
from projects.actions.guidelines import latest_guideline
from projects.actions.rounds import close_round
from projects.kinds import Value
from projects.models import (
    Assignment,
    CameBy,
    Import,
    Member,
    Outcome,
    Participant,
    Project,
    Purpose,
    Round,
    Unit,
)
from projects.rounds.submission import Submission

from ...design import stored
from ...design.entrants import Taking
from ...design.planning import Planned, PlannedPage, PlannedText
from ...design.shown import PlannedSource
from ...models import ProtocolVersion, RatingDesign, Unblinding
from ...protocols import content as contents
from ...protocols.parts import Content
from ...protocols.writing import create_protocol, free_name
from .outputs import bring_outputs
from .placing import Placed, text_of
from .said import NOT_APPLICABLE, Page, Read, Said
from .scales import Meaning, value_of

#: Units that a file knows by name, and the project does not have.
NAMED = "rated source"
#: (page's place, rater, which time) -> what was said then.
Answers = dict[tuple[int, str, int], list[Said]]


def store(imported: Import, read: Read, content: Content, placed: Placed, meaning: Meaning) -> Round:
    """Write it all, in the caller's transaction."""
    project, by = imported.project, imported.created_by
    version = _version(imported, content)
    bring_outputs(imported, placed)
    plan, places = _plan(project, read, content, placed)
    answers = _answers(read, places)
    raters = {rater: member_of_rater(project, rater, by) for rater in sorted({one.rater for one in read.said})}
    round = _round(imported, version, answers, placed, len(places))
    entry = record(
        actor=by, verb="import answers", obj=round, project_id=project.pk,
        after={"file": imported.file_name, "sha256": imported.sha256, "raters": len(raters), "answers": len(answers)},
    )  # fmt: skip
    Participant.objects.bulk_create(Participant(round=round, member=member) for member in raters.values())
    units = Unit.objects.in_bulk([unit for unit, _ in stored.store(round, version, plan)])
    pages = {unit.position: unit for unit in units.values()}
    values = {key: _value(key, said, plan, content, read, meaning) for key, said in answers.items()}
    _insert(round, values, raters, pages, entry.pk, timezone.now())
    close_round(round=round, by=by)
    Unblinding.objects.create(design=RatingDesign.objects.get(round=round), by=by, at=timezone.now())
    return round


def _version(imported: Import, content: Content) -> ProtocolVersion:
    there = ProtocolVersion.objects.filter(
        protocol__project=imported.project, digest=contents.digest(content)
    ).order_by("pk")  # fmt: skip
    return there.first() or create_protocol(
        project=imported.project, name=free_name(imported.project, content.title or "Ratings"),
        content=contents.as_json(content), note=f"For ratings of {imported.file_name}."[:300], by=imported.created_by,
    )  # fmt: skip


def _plan(project: Project, read: Read, content: Content, placed: Placed) -> tuple[Planned, dict[Page, int]]:
    """The design as it can be told from the file: a page for each unit, or pair, in the order of the file."""
    taking = [Taking(name, placed.runs.get(name)) for name in placed.systems]
    numbers = {name: n for n, name in enumerate(placed.systems)}
    places = {page: n for n, page in enumerate(dict.fromkeys(one.page for one in read.said))}
    named = _named(project, [page for page in places if page.unit not in placed.units])
    at: dict[tuple[str, str], int] = {}
    planned: list[PlannedSource] = []
    plan = Planned(content, 0, taking, planned, lowered=False, left_out=0)
    texts: dict[Page, dict[tuple[str, ...], None]] = defaultdict(dict)
    for one in read.said:
        for systems in [one.systems] if one.systems else [(side,) for side in one.page.sides or ()]:
            texts[one.page][systems] = None
    for page, number in places.items():
        if (page.unit, page.target) not in at:
            at[page.unit, page.target] = len(planned)
            planned.append(_source(page, read, placed, named))
        made = [_text(page, systems, numbers, read, placed) for systems in texts[page]]
        if page.sides is None:
            made.sort(key=lambda text: text.code)
        plan.pages.append(PlannedPage(at[page.unit, page.target], number, made))
    return plan, places


def _code(page: Page, systems: tuple[str, ...]) -> str:
    return sha256("\0".join((page.unit, page.target, *systems)).encode()).hexdigest()[:8]


def _text(
    page: Page, systems: tuple[str, ...], numbers: dict[str, int], read: Read, placed: Placed
) -> PlannedText:  # fmt: skip
    written = text_of(page, systems, read, placed)
    of = {numbers[system]: text for system, text in written.items()}
    return PlannedText(_code(page, systems), next(iter(of.values()))[1], of)


def _named(project: Project, pages: list[Page]) -> dict[str, int]:
    """The units of those that the project has not, made when first met."""
    keys = dict.fromkeys(page.unit[:200] for page in pages)
    there = dict(Unit.objects.filter(project=project, type=NAMED, key__in=keys).values_list("key", "pk"))
    made = Unit.objects.bulk_create(
        Unit(project=project, type=NAMED, key=key, position=n) for n, key in enumerate(keys) if key not in there
    )
    return there | {unit.key: unit.pk for unit in made}


def _source(page: Page, read: Read, placed: Placed, named: dict[str, int]) -> PlannedSource:
    known = placed.shown.get((page.unit, page.target)) or placed.shown.get((page.unit, ""))
    if known:
        return known
    against = read.against.get(page, "")
    gold = {"text": against, "slots": [], "polarity": "", "modality": ""} if against else None
    unit = placed.units.get(page.unit) or named[page.unit[:200]]
    shown = {"query": "", "title": "", "studies": []}
    return PlannedSource(unit, None, against, page.unit[:60], shown, gold)


def _answers(read: Read, places: dict[Page, int]) -> Answers:
    """What a rater said of a page is one answer; what is said of the same text again is the next one."""
    found: Answers = defaultdict(list)
    times: Counter[tuple[Page, str, tuple[str, ...], str]] = Counter()
    for one in read.said:
        key = (one.page, one.rater, one.systems, one.criterion)
        found[places[one.page], one.rater, times[key]].append(one)
        times[key] += 1
    return dict(sorted(found.items()))


def _round(imported: Import, version: ProtocolVersion, answers: Answers, placed: Placed, pages: int) -> Round:
    project, by = imported.project, imported.created_by
    kind = kinds.get(version.protocol.kind)
    raters: dict[int, set[str]] = defaultdict(set)
    for page, rater, _ in answers:
        raters[page].add(rater)
    entrants = [str(run.pk) for run in placed.runs.values()]
    return Round.objects.create(
        project=project, name=_round_name(project, imported.file_name), kind=kind.key, purpose=Purpose.MEASURE_ONLY,
        overlap=max(map(len, raters.values())), seed=0, dealing=Round.Dealing.DEALT,
        guideline=latest_guideline(project, kind.key, by=by),
        sampling={"units": "made elsewhere", "file": imported.file_name}, policy=defaults(kind.policy),
        options=defaults(kind.options) | {"protocol": str(version.pk), "entrants": entrants, "one_form": False},
        units_count=pages, created_by=by, opened_at=timezone.now(),
    )  # fmt: skip


def _round_name(project: Project, file: str) -> str:
    stem = PurePath(file).stem[:70] or "ratings"
    taken = set(project.rounds.filter(name__startswith=stem).values_list("name", flat=True))
    return next(name for n in range(1, len(taken) + 2) if (name := stem if n == 1 else f"{stem} {n}") not in taken)


def _value(
    key: tuple[int, str, int], said: list[Said], plan: Planned, content: Content, read: Read, meaning: Meaning
) -> Value:  # fmt: skip
    of = {criterion.key: criterion for criterion in content.criteria}

    def meant(one: Said) -> str:
        found = value_of(read, of[one.criterion], one.value, meaning)
        assert found is not None  # checked before
        return found

    if content.kind == "compare":
        return _choice(said[0], meant(said[0]))
    texts: dict[str, list[Any]] = {}
    order = list(of)
    for one in sorted(said, key=lambda one: order.index(one.criterion)):
        value = meant(one)
        na = value == NOT_APPLICABLE
        texts.setdefault(_code(one.page, one.systems), []).append(
            {"criterion": one.criterion, "value": "" if na else value, "na": na, "prefilled": False,
             "reason": one.comment, "spans": [], "quotes": []}
        )  # fmt: skip
    return {"texts": [{"text": code, "said": there} for code, there in texts.items()]}


def _choice(one: Said, choice: str) -> Value:
    first, second = (_code(one.page, (side,)) for side in one.page.sides or ("", ""))
    left, right = (second, first) if one.swapped else (first, second)
    chosen = {"left": left, "right": right}.get(choice, choice)
    return {"left": left, "right": right,
            "said": [{"criterion": one.criterion, "choice": chosen, "reason": one.comment}]}  # fmt: skip


def _insert(
    round: Round, values: dict[tuple[int, str, int], Value], raters: dict[str, Member], pages: dict[int, Unit],
    entry: int, now: datetime,
) -> None:  # fmt: skip
    """A slot and an answer for each; a rater has one place of a page, whatever the time."""
    numbers: dict[int, dict[str, int]] = defaultdict(dict)
    given: dict[tuple[int, str, int], Submission] = {}
    slots = []
    for (page, rater, repeat), value in values.items():
        number = numbers[page].setdefault(rater, len(numbers[page]) + 1)
        said = canonical({"unit": pages[page].pk, "rater": rater, "repeat": repeat, "value": value})
        submission = Submission(
            uuid=uuids.uuid4(), digest=sha256(said).hexdigest(), assignment=0, revision=0, kind=round.kind,
            outcome=Outcome.ANSWERED, shown=pages[page].revision, value=value, came_by=CameBy.IMPORT,
        )  # fmt: skip
        given[page, rater, repeat] = submission
        slots.append(
            Assignment(
                round=round, unit=pages[page], number=number, repeat=repeat, position=page, person=raters[rater],
                revision=1, current_answer_id=submission.uuid,
            )
        )  # fmt: skip
    of_rater: dict[str, list[tuple[Assignment, Submission, Value]]] = defaultdict(list)
    for slot, (key, submission) in zip(Assignment.objects.bulk_create(slots), given.items(), strict=True):
        of_rater[key[1]].append((slot, replace(submission, assignment=slot.pk, entry=entry), values[key]))
    for rater, rated in of_rater.items():
        insert_answers(round, rated, author=raters[rater], now=now)
