"""Base class of all task kinds: what each kind must define, and the common behaviour."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from accounts.models import User
from api.parameters import Parameter
from api.problems import Refused
from measures.agreement import Scale
from measures.text_agreement import Comparison

from ..models import Answer, Assignment, Member, Project, Purpose, Round, Unit
from . import groups
from .majority import AggregationResult, majority_of_equal
from .sheet import Sheet, Value
from .stored import StoredValues

#: Cells of one tidy row of an answer, by column.
Row = dict[str, str]


@dataclass(frozen=True)
class SkipReason:
    code: str
    text: str


@dataclass(frozen=True)
class Filter:
    """Filter of the units that a round chooses from: its parameter, and a function (units, value) -> fewer units."""

    parameter: Parameter
    narrow: Callable[[QuerySet[Unit], Any], QuerySet[Unit]]


@dataclass
class Batch:
    """Everything that a kind needs to show several units, loaded in a fixed number of queries."""

    #: Rows of the kind by unit id.
    rows: Mapping[int, Any]
    extra: dict[str, Any] = field(default_factory=dict)


def curator_assignment(unit: Unit, kind: str, person: Member | None) -> Assignment:
    """Return an unsaved curator assignment outside of rounds, for `Kind.check` and `Kind.card`."""
    round = Round(project_id=unit.project_id, kind=kind, purpose=Purpose.CURATION)
    return Assignment(round=round, unit=unit, number=0, person=person)


class Kind(StoredValues):
    """One task kind. A method that takes several units or answers costs a fixed number of queries.

    The methods that take an ``assignment`` read its ``unit`` and ``round``. It says who answers (``person``),
    which of the k answers it is (``number``), and which repetition (``repeat``). A card may depend on all of these.
    """

    key: str
    #: What people do, as a button label.
    title: str
    #: What people decide, in one line.
    description: str = ""
    #: Group in the list of kinds: one of `groups`, or a new one.
    group: groups.Group = groups.LABEL
    #: Key of the kind of material that its units belong to, if units can exist without it.
    material: str = ""
    #: Position in the list of kinds, in steps of ten: the order in which a data set is made.
    order: int = 1000
    #: Types of the units that people answer. A round may mix them.
    unit_types: Sequence[str]
    #: Decision fields, in display order.
    fields: Sequence[str]
    #: Participants must not learn who wrote what they judge. Seed, options and unit names are hidden from them.
    blind: bool = False
    #: Units are created by a design, which can be previewed before the round opens.
    designed: bool = False
    #: Names of options that the page of the design shows.
    design_options: Sequence[str] = ()
    #: Whether answers become decisions. Rounds of a kind that decides nothing are collections: every answer is kept.
    decides: bool = True
    #: Shortest time for which an assignment belongs to a person who has not answered it.
    lease_seconds: int = 0
    #: Estimated seconds per answer until times are measured.
    assumed_seconds: float = 20.0
    #: Whether models can suggest values, which correction rounds show instead of current ones (`projects.suggestions`).
    takes_suggestions: bool = False
    #: Kinds whose current values its units depend on. They are decided first.
    judged_by: Sequence[str] = ()

    #: Round settings for the pages (options) and for aggregation (policy). They never change after the round opens.
    options: Sequence[Parameter] = ()
    policy: Sequence[Parameter] = ()
    #: Current name -> first name of renamed options. Stored options are never rewritten, and releases keep first names.
    renamed_options: Mapping[str, str] = {}
    #: Filters of units in addition to the common ones (`projects.rounds.choosing`).
    filters: Sequence[Filter] = ()
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )

    #: Serializer of the unit on a card.
    card_serializer: type[serializers.Serializer[Any]]
    #: Serializer of a value. It checks the shape only; `check` checks what depends on the assignment.
    value_serializer: type[serializers.Serializer[Any]]

    #: Column names of the tidy rows (`rows`).
    columns: Sequence[str]
    #: Column that names the part of the unit (a sentence, a summary) of a row; "" if an answer is one row.
    part: str = ""
    #: Columns with free text next to the answer. They are published only if comments are.
    comments: Sequence[str] = ()
    #: Agreement measures, each with a declared scale and a column.
    scales: Sequence[Scale] = ()
    #: Comparisons of marked or written texts, for which nominal coefficients do not fit.
    comparisons: Sequence[Comparison] = ()
    #: Whether the rows are summaries, whose writers are compared (`measures.writers`).
    compares_writers: bool = False
    #: Maximum number of counted answers whose agreement is computed within a request; 0 for the usual number.
    answers_at_once: int = 0
    #: Guideline heading that explains a field, by field. Fields may be missing.
    headings: Mapping[str, str] = {}
    #: Spreadsheet format, or None if a spreadsheet cannot hold the answers.
    sheet: Sheet | None = None

    @cached_property
    def guideline(self) -> str:
        """The initial guideline of a project (Markdown): ``guideline.md`` in the kind's folder."""
        return Path(inspect.getfile(type(self))).with_name("guideline.md").read_text(encoding="utf-8")

    # Settings

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """Return the options of a round in this project. They differ by project only if a choice lists rows of it."""
        return self.options

    def current_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with their current names."""
        current = {first: name for name, first in self.renamed_options.items()}
        return {current.get(name, name): value for name, value in options.items()}

    def released_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with their first names, which releases use."""
        return {self.renamed_options.get(name, name): value for name, value in options.items()}

    def sheet_of(self, round: Round) -> Sheet | None:
        """Return the spreadsheet format of a round, without the answer columns that the round leaves out.

        A column that is left out is still read if a file contains it, so that `check` can reject its values.
        """
        return self.sheet

    # Units and rounds

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return the units of a project that a round can choose from, in corpus order."""
        raise NotImplementedError

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Return the units that a round can choose from if its purpose requires units with values.

        These are `units`, except for kinds that create their own units: only those have values.
        """
        return self.units(project)

    def narrowed(self, units: QuerySet[Unit], options: Mapping[str, Any]) -> QuerySet[Unit]:
        """Return the units that a round with these options can ask about."""
        return units

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """Return the (unit, context) ids that people answer, in order, for the chosen units.

        The default returns the chosen units. A kind whose unit is a pair, a sample or a page creates its own units
        here; the round is not open yet. Idempotent: a second call for the same round finds the units it created.
        """
        return chosen

    @property
    def rolls(self) -> bool:
        """Whether units of a round are independent of each other, so that units can be added while it is open.

        A kind that overrides `create_items` sets this itself if the layout of a unit does not depend on other
        chosen units.
        """
        return type(self).create_items is Kind.create_items and type(self).deal is Kind.deal

    def count_after_layout(self, project: Project, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        """Return how many units `create_items` creates from the chosen unit ids, in a round that takes any unit."""
        return len(chosen)

    def count_valued(self, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        """Return how many units `create_items` creates from the chosen unit ids, in a round of units with values."""
        return len(chosen)

    def check_people(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[Member], wanted: int
    ) -> None:
        """Raise `Refused`, with people and reasons, if these people cannot answer all units of a new round.

        ``wanted`` is the largest number of people who answer one unit.
        """

    def deal(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[int]
    ) -> Mapping[int, Sequence[int]] | None:
        """Return the member ids of each unit in a fixed allocation, by unit id, in order of assignment number.

        Return None for an even allocation (`projects.answers.assignments`).
        """
        return None

    def drawn_together(self, round: Round) -> Mapping[int, int]:
        """Return the group of each unit of a round, if an overlap sample must contain whole groups. Default: empty."""
        return {}

    def keeps_blind(self, round: Round) -> bool:
        """Return whether the participants of a round must not learn yet whose work they judge."""
        return self.blind and round.is_open

    def blind_among(self, rounds: Sequence[Round]) -> Set[int]:
        """Return the ids of the rounds of this kind that are kept blind (`keeps_blind`). At most one query."""
        return {round.pk for round in rounds if self.keeps_blind(round)}

    def shows_suggestions(self, round: Round) -> bool:
        """Return whether people see suggested values. Their agreement is then not that of independent labelling."""
        return False

    def joined(self, round: Round, member: Member) -> None:
        """Called in the transaction that adds a person to a round, when it opens or later."""

    def opened(self, round: Round) -> None:
        """Called in the transaction that opens a round, once its assignments exist."""

    def closed(self, round: Round) -> None:
        """Called by the job that finishes a closed round, after aggregation. It may be called more than once."""

    def discarded(self, round: Round) -> None:
        """Called when a round that never opened is removed and has no assignments left.

        Delete what `create_items` created.
        """

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the text of each unit by unit id, for lists. One query."""
        return {}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        """Return the review (PMID) of each unit, by unit id. One query.

        Confidence intervals treat the units of one review as a cluster. A missing unit is a cluster of its own.
        """
        return {}

    def expected_values(self, units: Iterable[int]) -> dict[int, Value]:
        """Return the expected values of units that were created with a known answer, by unit id. One query.

        A reliability study compares raters with these values, and with the current values of all other units. Raters
        never see them.
        """
        return {}

    def checks_among(self, units: Iterable[int]) -> Set[tuple[int, str]]:
        """Return the attention checks among units as (unit id, part). At most two queries.

        The part is "" if the whole unit is a check. Agreement excludes attention checks.
        """
        return frozenset()

    # Cards and values

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        """Load what `card` needs."""
        return Batch({})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return what a person sees of the unit (`card_serializer`).

        Include no information that raters must not have.
        """
        raise NotImplementedError

    def check(self, assignment: Assignment, value: Value) -> None:
        """Raise ``api.problems.Refused`` with the field if the value does not fit the assignment's unit and round."""

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        """Insert the typed rows of new answers, in the caller's transaction."""
        raise NotImplementedError

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        """Return the values of answers that are not skips by uuid, read from the typed rows."""
        raise NotImplementedError

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        """Return the values of imports (by id), by (unit id, import id)."""
        return {}

    def migrate(self, value: Value, unit: Unit) -> Value:
        """Return the value of an earlier text of the unit, migrated to the current text.

        Raise ``api.problems.Refused`` with the field that cannot be migrated and needs a new answer.
        """
        raise Refused.field("value", "This value belongs to an earlier text. Enter a new value.")

    # Aggregation and decisions

    def fields_of(self, round: Round) -> Sequence[str]:
        return self.fields

    def scales_of(self, round: Round) -> Sequence[Scale]:
        return self.scales

    def unmeasured(self, round: Round) -> Sequence[str]:
        """Return the criteria whose scale has too many steps for computing agreement."""
        return ()

    def comparisons_of(self, round: Round) -> Sequence[Comparison]:
        return self.comparisons

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        """Aggregate the k counted answers to one unit into gold, per field and by the round's policy. A pure function.

        Default: the majority value of each field by `is_equal`, if there is one.
        """
        return [majority_of_equal(name, answers, partial(self.is_equal, name)) for name in self.fields_of(round)]

    def check_aggregation(self, round: Round) -> None:
        """Raise ``api.problems.Refused`` if `aggregate` cannot aggregate the answers of a round that is about to open.

        An open round cannot be changed, so this is checked in advance. The default `aggregate` reads each field of the
        round from the submitted value, so the value serializer must have all of them.
        """
        if type(self).aggregate is not Kind.aggregate:
            return
        if unknown := [name for name in self.fields_of(round) if name not in self.value_serializer().fields]:
            names = " or ".join(unknown)
            message = (
                f"Answers to this task have no field {names}, so they cannot form gold. Choose a reliability study."
            )
            raise Refused.field("purpose", message)

    def part_of(self, field: str, value: Value) -> Value:
        """Return the part of a value that one field decides. Empty if the answer does not contain the field."""
        return {field: value[field]} if field in value else {}

    def merged(self, parts: Sequence[Value]) -> Value:
        """Return one value made of the parts that several fields decide."""
        whole: Value = {}
        for part in parts:
            whole |= part
        return whole

    def dependents_of(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        """Return units of this kind that show one of these units.

        Their answers become stale when these units change.
        """
        return Unit.objects.none()

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        """Return whether two values are equal in one field; then no new decision is needed.

        A missing field counts as None. A kind whose field is a set in a list, such as spans, must override this.
        """
        return bool(one.get(field) == other.get(field))

    def is_correct(self, field: str, value: Value, expected: Value, round: Round) -> bool | None:
        """Return whether an answer is correct in one field by the round's policy; None if it is not compared."""
        return self.is_equal(field, expected, value)

    def as_suggestion(self, value: Value) -> Value:
        """Return a suggested value as cards show it. Kinds that record the origin of parts mark them."""
        return value

    def read_values(self, units: Sequence[Unit], imported: int) -> dict[int, Any]:
        """Return the values of the current machine readings of an import, unchecked, by unit id.

        Units without a reading are missing. Use a fixed number of queries.
        """
        return {}

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        """Return the units with an imported value but no decision, if `pre_decide` writes it and not the import."""
        return units.none()

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the distance of two answers in one field, from 0 (equal) to 1.

        It determines which answer is nearest to the others.
        """
        return 0.0 if self.is_equal(field, one, other) else 1.0

    def pre_decide(self, units: Sequence[Unit]) -> None:
        """Called in the transaction that decides these units, before current values are read."""

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Called after the decisions are inserted, for kinds with rows that depend on the decided values."""

    def row(self, value: Value) -> Row:
        """Return the cells of a value by column, for kinds with one row per answer."""
        return {name: "" if (cell := value.get(name)) is None else str(cell) for name in self.columns}

    def rows(self, value: Value) -> list[Row]:
        """Return the tidy rows of a value, used for agreement and releases.

        If an answer has several rows, the column `part` of each names its part of the unit.
        """
        return [self.row(value)]

    def sentence(self, field: str, value: Value) -> str:
        """Return one field of a value in words, for lists and the history."""
        return str(value[field])

    def in_words(self, value: Value) -> dict[str, str]:
        """Return the fields of a value in words, by field. Missing fields are left out."""
        return {name: self.sentence(name, value) for name in self.fields if name in value}
