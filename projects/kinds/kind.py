"""The base class of all task kinds: what each must say of itself, and what most have in common."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import QuerySet
from rest_framework import serializers

from accounts.models import User
from api.parameters import Parameter
from api.problems import Refused
from measures.agreement import Scale
from measures.text_agreement import Comparison

from ..models import Answer, Assignment, Member, Project, Purpose, Round, Unit
from .majority import Verdict, majority
from .sheet import Sheet, Value

#: The cells of one tidy row of an answer, by column.
Row = dict[str, str]


@dataclass(frozen=True)
class SkipReason:
    code: str
    text: str


@dataclass(frozen=True)
class Filter:
    """One way to narrow the units that a round chooses from: how it is asked for, and (units, value) -> fewer units."""

    asked: Parameter
    narrow: Callable[[QuerySet[Unit], Any], QuerySet[Unit]]


@dataclass
class Batch:
    """Units loaded together with all that a kind needs to show them: a fixed number of queries."""

    #: The kind's own rows by unit id.
    rows: Mapping[int, Any]
    extra: dict[str, Any] = field(default_factory=dict)


def place(unit: Unit, kind: str, person: Member | None) -> Assignment:
    """A slot outside of rounds, for what `Kind.check` and `Kind.card` are to know of it: a curator's."""
    round = Round(project_id=unit.project_id, kind=kind, purpose=Purpose.CURATION)
    return Assignment(round=round, unit=unit, number=0, person=person)


class Kind:
    """One task kind. A method that takes several units or answers costs a fixed number of queries.

    A *slot* is an `Assignment` with its ``unit`` and ``round``: who is asked (``person``), in which of the unit's
    places (``number``), and which time (``repeat``). What is shown may differ by all of these.
    """

    key: str
    #: What people do, as a button would say it.
    title: str
    #: Where it stands among the kinds that a lead chooses from, by tens: as a data set is made.
    order: int = 1000
    #: The types of the units that people answer; a round may mix them.
    unit_types: Sequence[str]
    #: The decision fields it decides, in the order in which they are shown.
    fields: Sequence[str]
    #: Its own tables: rows that point at an answer, and what hangs on them. They take inserts only.
    tables: Sequence[type[models.Model]] = ()
    #: People must not learn who wrote what they judge: nothing of the seed, of the options or of the unit's name goes
    #: to whoever works in its rounds.
    blind: bool = False
    #: Its units are laid out by a design, which can be looked at before its round is opened.
    designed: bool = False
    #: Seconds that an answer is taken to need before any was measured.
    assumed_seconds: float = 20.0
    #: Kinds by whose values in force its units are judged: decided together, theirs come first.
    judged_by: Sequence[str] = ()

    #: What a lead sets of a round: what its pages show, and what makes answers gold. Frozen with the round.
    options: Sequence[Parameter] = ()
    policy: Sequence[Parameter] = ()
    #: Ways to narrow the units, beside those that all kinds have (`projects.rounds.choosing`).
    filters: Sequence[Filter] = ()
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )

    #: The serializer of the unit's part of a card: what the person is shown.
    card_serializer: type[serializers.Serializer[Any]]
    #: The serializer of a value: shape only; `check` does what needs the slot.
    value_serializer: type[serializers.Serializer[Any]]

    #: Column names of the tidy rows of an answer (`rows`).
    columns: Sequence[str]
    #: The column that says which part of the unit a row is about (a sentence, a summary); "" where it is one row.
    part: str = ""
    #: Columns of what a person wrote beside what was asked: published where comments are.
    comments: Sequence[str] = ()
    #: Measures of agreement, each on a declared scale of a column.
    scales: Sequence[Scale] = ()
    #: How marked or written texts are compared, where a nominal coefficient does not fit.
    comparisons: Sequence[Comparison] = ()
    #: The heading of its guideline under which a field is explained, as far as there is one.
    headings: Mapping[str, str] = {}
    #: How it is worked on away from the browser; None where a sheet cannot hold it.
    sheet: Sheet | None = None

    @cached_property
    def guideline(self) -> str:
        """The guideline (Markdown) that a project starts from: ``guideline.md`` in the kind's folder."""
        return Path(inspect.getfile(type(self))).with_name("guideline.md").read_text(encoding="utf-8")

    # What a lead sets

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """The options of a round of this project: the same everywhere, but where a choice is among rows of it."""
        return self.options

    def sheet_of(self, round: Round) -> Sheet | None:
        """Its sheet as a round asks for it: less of what is asked where the round leaves it out. What stands in a
        column that is left out is still read, so that `check` can refuse it."""
        return self.sheet

    # Which units

    def units(self, project: Project) -> QuerySet[Unit]:
        """The units of a project that a round can choose from, in corpus order."""
        raise NotImplementedError

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """The units that a round can choose from whose purpose takes what has a value: the same, but for a kind that
        lays out units of its own, whose values are of those."""
        return self.units(project)

    def narrowed(self, units: QuerySet[Unit], options: Mapping[str, Any]) -> QuerySet[Unit]:
        """Of these units those that a round with such options can ask about."""
        return units

    def lay_out(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """The (unit, context) ids that people are asked, in order, of those that were chosen. A kind whose unit is a
        pair, a sample or a page makes its own here, beside the round that is not open yet; called again for the same
        round it finds what it made. Most kinds ask what was chosen."""
        return chosen

    @property
    def rolls(self) -> bool:
        """Whether each unit of a round is asked for itself, so that more can follow while it is open. A kind that lays
        out units, and lays out each alike whatever else is chosen, says so."""
        return type(self).lay_out is Kind.lay_out and type(self).deal is Kind.deal

    def units_after_layout(self, project: Project, chosen: int, plan: Mapping[str, Any]) -> int:
        """About how many units `lay_out` makes of so many, by the options of a plan: a job prepares a large round."""
        return chosen

    def check_people(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[Member], wanted: int
    ) -> None:
        """Called with the people that a round opens with, and of how many of them each unit is asked at most. Raises
        `Refused` where they cannot answer them all, and says which and why."""

    def deal(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[int]
    ) -> Mapping[int, Sequence[int]] | None:
        """Whom each unit of a dealt round is asked of, by unit id, in the order of their places; None where the queue
        deals them evenly (`projects.rounds.slots`)."""
        return None

    def keeps_blind(self, round: Round) -> bool:
        """Whether those who worked in a round must not learn whose work they judged yet."""
        return self.blind and round.is_open

    def joined(self, round: Round, member: Member) -> None:
        """Called in the transaction that lets a person into a round, when it opens or later."""

    def opened(self, round: Round) -> None:
        """Called in the transaction that opens a round, when its slots are there."""

    def closed(self, round: Round) -> None:
        """Called by the job that finishes a closed round, after gold; it may be called again."""

    def discarded(self, round: Round) -> None:
        """Called when a round that never opened is removed and has no slots any more: remove what `lay_out` made."""

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """The text that each unit is about, by unit id: for lists. One query."""
        return {}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        """The review that each unit belongs to (its PMID), by unit id: intervals know that units of one are alike. One
        query. A unit that is left out stands for itself."""
        return {}

    def known(self, units: Iterable[int]) -> dict[int, Value]:
        """What is right of units that were laid out with their answer, by unit id: raters of a round that makes no gold
        are held against it, and it is shown to nobody who is asked. One query. Of all others it is what is in force."""
        return {}

    # What is shown, and what is said

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        """Fetch what `card` needs."""
        return Batch({})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """What the person of a slot sees of its unit (`card_serializer`); nothing that a rater must not learn."""
        raise NotImplementedError

    def check(self, slot: Assignment, value: Value) -> None:
        """Raise ``api.problems.Refused`` with the field where the value does not fit the slot's unit and round."""

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        """Write the typed rows of new answers, in the caller's transaction."""
        raise NotImplementedError

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        """The values of answered answers by their uuids, read back from the typed rows."""
        raise NotImplementedError

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        """The values that imports (ids) brought, by (unit id, import id)."""
        return {}

    def carry(self, value: Value, unit: Unit) -> Value:
        """A value said of an earlier text of the unit, as it reads on the present one.

        Raises ``api.problems.Refused`` with the field that cannot be carried over: it is to be said anew."""
        raise Refused.field("value", "This was said of another text. Say it anew.")

    # What it comes to

    def fields_of(self, round: Round) -> Sequence[str]:
        """The decision fields of a round."""
        return self.fields

    def scales_of(self, round: Round) -> Sequence[Scale]:
        """The measures of agreement of a round."""
        return self.scales

    def comparisons_of(self, round: Round) -> Sequence[Comparison]:
        return self.comparisons

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        """Gold per field from the k counted answers to one unit, by the round's policy. Pure: writes nothing. Where a
        kind says nothing else, what more than half of them said."""
        return [majority(name, answers, methodcaller("get", name))[0] for name in self.fields_of(round)]

    def part_of(self, field: str, value: Value) -> Value:
        """The part of a value that one field decides; empty where the value has nothing of it."""
        return {field: value[field]} if field in value else {}

    def merged(self, parts: Sequence[Value]) -> Value:
        """One value of the parts that several fields decide."""
        whole: Value = {}
        for part in parts:
            whole |= part
        return whole

    def hanging_on(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """Units of this kind's own that show some of these: what was said of them is stale when those change."""
        return Unit.objects.none()

    def says_same(self, field: str, one: Value, other: Value) -> bool:
        """Whether two values, or parts of them, say the same in one field: then nothing is to be decided anew. What a
        field that is not there says is None."""
        return bool(one.get(field) == other.get(field))

    def matches(self, field: str, said: Value, expected: Value, round: Round) -> bool | None:
        """Whether an answer is right in one field, held against the value in force by the round's policy; None where
        the field is not compared."""
        return self.says_same(field, expected, said)

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        """Of these units those whose value a file brought and of which no decision is written yet: `before_decisions`
        writes it. None where a kind's import writes decisions at once."""
        return units.none()

    def apart(self, field: str, one: Value, other: Value) -> float:
        """How far two answers are from one another in one field, from 0 (they say the same) to 1. What a curator is
        shown as a difference, and what answer is nearest to the others, goes by this."""
        return 0.0 if self.says_same(field, one, other) else 1.0

    def before_decisions(self, units: Sequence[Unit]) -> None:
        """Called in the transaction that decides these units, before what is in force is read."""

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Called when the decisions are inserted: for a kind whose values other rows follow."""

    def row(self, value: Value) -> Row:
        """The cells of a value, by column, where an answer is one row."""
        return {name: "" if (cell := value.get(name)) is None else str(cell) for name in self.columns}

    def rows(self, value: Value) -> list[Row]:
        """The tidy rows of a value: what its agreement is computed from, and what a release has of it. Each names its
        part of the unit in the column `part`, where an answer is several."""
        return [self.row(value)]

    def sentence(self, field: str, value: Value) -> str:
        """One field of a value in words, for lists and the history."""
        return str(value[field])

    def in_words(self, value: Value) -> dict[str, str]:
        """A value in words, by field, as far as it is there."""
        return {name: self.sentence(name, value) for name in self.fields if name in value}
