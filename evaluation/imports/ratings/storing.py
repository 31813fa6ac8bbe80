"""Store imported ratings as closed and unblinded rounds. Store texts that no run of the project has as runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath
from typing import Any
from unicodedata import normalize

from django.utils import timezone

from api.parameters import defaults
from audit.log import record
from audit.models import Entry
from evaluation.design.sources import PlannedSource
from evaluation.imports.ratings.matching import ELSEWHERE, Matches, composed, text_of
from evaluation.imports.ratings.rows import NOT_APPLICABLE, Page, Part, RatingFile, RatingRow
from generation.imported_runs.actions import PreparedRun, prepare_run
from projects import kinds
from projects.external_ratings.raters import ExternalRating, members_of_raters, prepare_answers
from projects.guidelines.actions import latest_guideline
from projects.jobs import jobs
from projects.kinds import Value
from projects.models import Import, Member, Participant, Project, Purpose, Round, Unit
from projects.rounds.actions import close_round
from sql import planner
from sql.bulk import BulkWriter, reserve_ids

from ...design import stored
from ...design.plan import Planned, PlannedPage, PlannedText
from ...design.systems import OPTION, PlannedSystem
from ...kinds.pages import PageKind
from ...models import ProtocolVersion, RatingFigures, Unblinding
from ...protocols import content as protocol_content
from ...protocols.actions import create_protocol, free_name
from ...protocols.parts import Content
from .scales import ProtocolChoice


def prepare_outputs(imported: Import, placed: Matches) -> list[PreparedRun]:
    """Prepare a run for each system with new texts. Add the run and its summaries to ``placed``."""
    stem = PurePath(imported.file_name).stem
    origin = f"Imported with the ratings in {imported.file_name}, SHA-256 {imported.sha256}"
    prepared = []
    for system, texts in placed.unheld.items():
        units = {placed.units[key]: (key, text) for key, text in texts.items()}
        one = prepare_run(
            project=imported.project,
            level=placed.level,
            name=system,
            texts=units,
            file=f"{stem} - {system}.jsonl"[-200:],
            origin=origin,
            by=imported.created_by,
        )
        placed.runs[system] = one.run
        for unit, (key, text) in units.items():
            placed.texts[system, key] = (one.summaries[unit], text)
        prepared.append(one)
    placed.unheld = {}
    return prepared


#: Type of units that a file names and the project lacks.
NAMED = "rated source"
#: (page number, rater, repetition) -> the ratings of that answer.
Answers = dict[tuple[int, str, int], list[RatingRow]]


@dataclass
class PreparedRound:
    """A round whose rows are all prepared but unsaved."""

    imported: Import
    read: RatingFile
    part: Part
    asked: ProtocolChoice
    placed: Matches
    round: Round
    plan: Planned
    design: stored.Prepared
    rows: BulkWriter
    entry: int
    raters: int
    answers: int

    def write(self) -> None:
        """Write the round in the caller's transaction, then close and unblind it."""
        round, by = self.round, self.imported.created_by
        version = _version(self.imported, self.asked.content)
        runs = self.placed.runs
        run_ids = [str(runs[one.name].pk) for one in self.plan.systems if one.name in runs]
        round.options = round.options | {"protocol": str(version.pk), OPTION: run_ids, "one_form": False}
        round.save(force_insert=True)
        record(
            actor=by,
            verb="import answers",
            obj=round,
            project_id=round.project_id,
            after={
                "file": self.imported.file_name,
                "sha256": self.imported.sha256,
                "raters": self.raters,
                "answers": self.answers,
            },
            pk=self.entry,
            at=round.opened_at,
        )
        self.design.write(version, self.plan.systems, self.rows)
        close_round(round=round, by=by)
        Unblinding.objects.create(design=self.design.design, by=by, at=timezone.now())
        jobs.enqueue(project=round.project, kind=RatingFigures.JOB, params={"round": round.pk}, by=by)
        planner.analyze_grown_tables(*self.rows.tables)


def prepare(
    imported: Import, read: RatingFile, asked: Mapping[Part, ProtocolChoice], placed: Matches
) -> list[PreparedRound]:
    """Prepare a round for each part of the file. Slow work is done here, before the transaction."""
    shared = BulkWriter()
    members = members_of_raters(imported.project, sorted({one.rater for one in read.said}), shared)
    named = _named(imported.project, read, placed, shared)
    names: set[str] = set()
    rounds: list[PreparedRound] = []
    for part in read.parts:
        # The first round also writes the rows that all rounds share.
        rows = BulkWriter() if rounds else shared
        rounds.append(_prepare_round(imported, read, part, asked[part], placed, members, named, names, rows))
    return rounds


def _prepare_round(
    imported: Import,
    read: RatingFile,
    part: Part,
    asked: ProtocolChoice,
    placed: Matches,
    members: Mapping[str, Member],
    named: Mapping[str, int],
    names: set[str],
    rows: BulkWriter,
) -> PreparedRound:
    said = [one for one in read.said if one.part == part]
    plan = _plan(imported.project, said, read, asked.content, placed, named)
    answers = _answers(said, plan.places)
    round = _round(imported, asked.content, answers, part, len(plan.places), len(read.parts) > 1, names)
    [round.pk], [entry] = reserve_ids(Round, 1), reserve_ids(Entry, 1)
    design = stored.prepare(round, plan.planned, rows)
    pages = {unit.position: unit for unit in design.units}
    raters = sorted({one.rater for one in said})
    rows.add(Participant(round=round, member=members[rater]) for rater in raters)
    kind = kinds.get(round.kind)
    assert isinstance(kind, PageKind)
    given = prepare_answers(round, _given(answers, pages, asked, plan.codes), members, entry, rows)
    rows.add(kind.rows_to_store(given, design.texts))
    return PreparedRound(
        imported, read, part, asked, placed, round, plan.planned, design, rows, entry, len(raters), len(answers)
    )


def _version(imported: Import, content: Content) -> ProtocolVersion:
    versions = ProtocolVersion.objects.filter(
        protocol__project=imported.project, digest=protocol_content.digest(content)
    ).order_by("pk")
    return versions.first() or create_protocol(
        project=imported.project,
        name=free_name(imported.project, content.title or "Ratings"),
        content=protocol_content.as_json(content),
        note=f"Created for the ratings in {imported.file_name}."[:300],
        by=imported.created_by,
    )


@dataclass
class _Plan:
    """The design of an imported round. ``places`` maps pages to numbers; ``codes`` maps pages and systems to codes."""

    planned: Planned
    places: dict[Page, int]
    codes: dict[tuple[Page, tuple[str, ...]], str]


def _plan(
    project: Project,
    said: Sequence[RatingRow],
    read: RatingFile,
    content: Content,
    placed: Matches,
    named: Mapping[str, int],
) -> _Plan:
    """Plan a page for each unit or pair, in the order of the file."""
    systems = sorted({name for one in said for name in _writers(one)})
    compared_systems = [PlannedSystem(name, placed.runs.get(name)) for name in systems]
    numbers = {name: n for n, name in enumerate(systems)}
    places = {page: n for n, page in enumerate(dict.fromkeys(one.page for one in said))}
    at: dict[tuple[str, str], int] = {}
    planned: list[PlannedSource] = []
    plan = Planned(
        content,
        0,
        compared_systems,
        planned,
        lowered=False,
        left_out=0,
        new_units={pk: key for key, pk in named.items()},
    )
    texts: dict[Page, dict[tuple[str, ...], None]] = defaultdict(dict)
    for one in said:
        for each in [one.systems] if one.systems else [(side,) for side in one.page.sides or ()]:
            texts[one.page][each] = None
    codes: dict[tuple[Page, tuple[str, ...]], str] = {}
    for page, number in places.items():
        if (page.unit, page.target) not in at:
            at[page.unit, page.target] = len(planned)
            planned.append(_source(page, read, placed, named))
        taken: set[str] = set()
        made = []
        for each in texts[page]:
            codes[page, each] = code = _code(page, each, taken)
            made.append(_text(code, page, each, numbers, read, placed))
        if page.sides is None:
            made.sort(key=lambda text: text.code)
        plan.pages.append(PlannedPage(at[page.unit, page.target], number, made))
    return _Plan(plan, places, codes)


def _writers(one: RatingRow) -> Sequence[str]:
    return one.systems or one.page.sides or ()


def _code(page: Page, systems: tuple[str, ...], taken: set[str]) -> str:
    """Return the code of a text. It is unique within its page."""
    digest = sha256("\0".join((page.unit, page.target, *systems)).encode()).hexdigest()
    code = next(code for n in range(len(digest) - 8) if (code := digest[n : n + 8]) not in taken)
    taken.add(code)
    return code


def _text(
    code: str, page: Page, systems: tuple[str, ...], numbers: Mapping[str, int], read: RatingFile, placed: Matches
) -> PlannedText:
    written = text_of(page, systems, read, placed)
    of = {numbers[system]: text for system, text in written.items()}
    return PlannedText(code, next(iter(of.values()))[1], of)


def _named(project: Project, read: RatingFile, placed: Matches, rows: BulkWriter) -> dict[str, int]:
    """Return the ids of units that the project lacks, by name. Add those that no earlier import created to ``rows``."""
    keys = dict.fromkeys(one.page.unit for one in read.said if one.page.unit not in placed.units)
    both = {*keys, *(normalize("NFD", key) for key in keys)}
    known = Unit.objects.filter(project=project, type=NAMED, key__in=both).values_list("key", "pk")
    unit_ids = {composed(key): pk for key, pk in known}
    added = rows.add(
        Unit(project=project, type=NAMED, key=key, position=n) for n, key in enumerate(keys) if key not in unit_ids
    )
    return unit_ids | {unit.key: unit.pk for unit in added}


def _source(page: Page, read: RatingFile, placed: Matches, named: Mapping[str, int]) -> PlannedSource:
    known = placed.sources.get((page.unit, page.target)) or placed.sources.get((page.unit, ""))
    if known:
        return known
    against = read.against.get(page, "")
    gold = {"text": against, "slots": [], "polarity": "", "modality": ""} if against else None
    unit = placed.units.get(page.unit) or named[page.unit]
    material = {"query": "", "title": "", "studies": []}
    return PlannedSource(unit, None, against, page.unit, material, gold)


def _answers(said: Sequence[RatingRow], places: Mapping[Page, int]) -> Answers:
    """Group ratings to answers. An answer holds the ratings of one page by one rater in one repetition."""
    repeats: dict[tuple[Page, str], set[int]] = defaultdict(set)
    for one in said:
        repeats[one.page, one.rater].add(one.repeat)
    ranks = {key: {repeat: n for n, repeat in enumerate(sorted(found))} for key, found in repeats.items()}
    answers: Answers = defaultdict(list)
    for one in said:
        answers[places[one.page], one.rater, ranks[one.page, one.rater][one.repeat]].append(one)
    return dict(sorted(answers.items()))


def _given(
    answers: Answers,
    pages: Mapping[int, Unit],
    asked: ProtocolChoice,
    codes: Mapping[tuple[Page, tuple[str, ...]], str],
) -> Iterator[ExternalRating]:
    """Yield the answers in the order of the pages. A rater's number on a page is the same in all repetitions."""
    numbers: dict[int, dict[str, int]] = defaultdict(dict)
    for (page, rater, repeat), said in answers.items():
        number = numbers[page].setdefault(rater, len(numbers[page]) + 1)
        yield ExternalRating(rater, pages[page], page, number, _value(said, asked, codes), repeat)


def _round(
    imported: Import, content: Content, answers: Answers, part: Part, pages: int, named: bool, names: set[str]
) -> Round:
    """Return the unsaved round. With ``named``, its name contains the part, because the file has several rounds."""
    project, by = imported.project, imported.created_by
    kind = kinds.get(content.kind)
    raters: dict[int, set[str]] = defaultdict(set)
    for page, rater, _ in answers:
        raters[page].add(rater)
    more = ", ".join(filter(None, part)) if named or part.group else ""
    return Round(
        project=project,
        name=_round_name(project, imported.file_name, more, names),
        kind=kind.key,
        purpose=Purpose.RELIABILITY_STUDY,
        rater_group=part.group,
        overlap=max(map(len, raters.values())),
        seed=0,
        allocation=Round.Allocation.FIXED,
        guideline=latest_guideline(project, kind.key, by=by),
        sampling={"units": ELSEWHERE, "file": imported.file_name},
        policy=defaults(kind.policy),
        options=defaults(kind.options),
        units_count=pages,
        created_by=by,
        opened_at=timezone.now(),
    )


def _round_name(project: Project, file: str, more: str, names: set[str]) -> str:
    """Return an unused round name of at most 80 characters."""
    more = f" ({more[:30]})" if more else ""
    stem = (PurePath(file).stem[: 74 - len(more)] or "ratings") + more
    used_names = names | set(project.rounds.filter(name__startswith=stem).values_list("name", flat=True))
    name = next(
        name for n in range(1, len(used_names) + 2) if (name := stem if n == 1 else f"{stem} {n}") not in used_names
    )
    names.add(name)
    return name


def _value(
    said: Sequence[RatingRow], asked: ProtocolChoice, codes: Mapping[tuple[Page, tuple[str, ...]], str]
) -> Value:
    if asked.content.kind == "compare":
        return _choice(said[0], asked, codes)
    texts: dict[str, list[Any]] = {}
    order = {criterion.key: n for n, criterion in enumerate(asked.content.criteria)}
    for one in sorted(said, key=lambda one: order[asked.of[one.criterion].key]):
        value = asked.values[one.criterion, one.value]
        na = value == NOT_APPLICABLE
        texts.setdefault(codes[one.page, one.systems], []).append(
            {
                "criterion": asked.of[one.criterion].key,
                "value": "" if na else value,
                "na": na,
                "prefilled": False,
                "reason": one.comment,
                "spans": [],
                "quotes": [],
            }
        )
    return {"texts": [{"text": code, "said": answers} for code, answers in texts.items()]}


def _choice(one: RatingRow, asked: ProtocolChoice, codes: Mapping[tuple[Page, tuple[str, ...]], str]) -> Value:
    first, second = (codes[one.page, (side,)] for side in one.page.sides or ("", ""))
    left, right = (second, first) if one.swapped else (first, second)
    choice = str(asked.values[one.criterion, one.value])
    selected = {"left": left, "right": right}.get(choice, choice)
    return {
        "left": left,
        "right": right,
        "said": [{"criterion": asked.of[one.criterion].key, "choice": selected, "reason": one.comment}],
    }
