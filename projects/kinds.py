"""What a task kind is, and the registry of those that exist.

The queue, the answers, agreement and gold know only this protocol. A new kind is one module in ``annotation/kinds``
or ``evaluation/kinds`` that implements it, and one component in the frontend.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from accounts.models import User
from measures.agreement import Scale
from measures.text_agreement import Comparison

from .models import Answer, Project, Round, Unit

#: The JSON-able value of one answer, as the kind's value serializer validates and shows it.
Value = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What a round's answers to one unit come to, for one field: an adopted answer, or None for a contest."""

    field: str
    origin: str
    answer: Answer | None


@dataclass(frozen=True)
class SkipReason:
    code: str
    text: str


@dataclass(frozen=True)
class Column:
    """One column of a spreadsheet: its name in the file, and where only some values are allowed, those."""

    name: str
    width: int = 16
    allowed: tuple[str, ...] = ()
    note: str = ""


class SheetFaults(Exception):
    """Cells of one row that hold no answer: (column, what is wrong and what was expected)."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(message for _, message in faults))
        self.faults = list(faults)


@dataclass(frozen=True)
class Sheet:
    """How a kind is worked on in a spreadsheet: what a row shows, what is asked, and how a row becomes a value."""

    #: Columns filled from the card; "text" is among them, by which a row whose ids were shifted is noticed.
    shown: Sequence[Column]
    #: Columns for the person to fill in.
    asked: Sequence[Column]
    #: A card (`Kind.card`) as the cells of the shown columns.
    cells: Callable[[Mapping[str, Any]], dict[str, str]]
    #: (the unit's text, the filled cells by name) -> the value. Raises `SheetFaults`. Nothing is guessed.
    value: Callable[[str, Mapping[str, str]], Value]
    #: A value as the cells of the asked columns: the inverse of ``value``.
    filled: Callable[[Value], dict[str, str]]


@dataclass
class Batch:
    """Units loaded together with all that a kind needs to show or check them: a fixed number of queries."""

    units: Mapping[int, Unit]
    #: Kind's own rows by unit id.
    rows: Mapping[int, Any]
    extra: dict[str, Any] = field(default_factory=dict)


class Kind(Protocol):
    """One task kind. A method that takes several units or answers costs a fixed number of queries."""

    key: str
    title: str
    unit_type: str
    #: The decision fields it decides, in the order in which they are shown.
    fields: Sequence[str]
    skip_reasons: Sequence[SkipReason]
    #: The serializer of the unit's part of a card: what the person is shown.
    card_serializer: type[serializers.Serializer[Any]]
    #: The serializer of a value: shape only; `check` does what needs the unit.
    value_serializer: type[serializers.Serializer[Any]]
    #: Column names of one answer (`row`).
    columns: Sequence[str]
    #: Measures of agreement, each on a declared scale of a column.
    scales: Sequence[Scale]
    #: How marked or written texts are compared, where a nominal coefficient does not fit.
    comparisons: Sequence[Comparison]
    #: The guideline (Markdown) that a project starts from.
    guideline: str
    #: How it is worked on away from the browser; None where a sheet cannot hold it.
    sheet: Sheet | None

    def units(self, project: Project, filters: Mapping[str, Any]) -> QuerySet[Unit]:
        """The units of a project that this kind can be asked of, in corpus order, narrowed by `filters`."""
        ...

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """The text that each unit is about, by unit id: for lists. One query."""
        ...

    def reviews(self, units: Iterable[int]) -> dict[int, int]:
        """The review that each unit belongs to, by unit id: intervals know that units of one are alike. One query."""
        ...

    def load(self, units: Iterable[Unit]) -> Batch:
        """Fetch what `card` needs."""
        ...

    def card(self, unit: Unit, batch: Batch, round: Round) -> dict[str, Any]:
        """What a person sees of the unit: input of `card_serializer`. Never anything a rater must not learn."""
        ...

    def check(self, unit: Unit, value: Value) -> None:
        """Raise ``accounts.problems.Refused`` with the field where the value does not fit the unit."""
        ...

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        """Write the typed rows of new answers, in the caller's transaction."""
        ...

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        """The values of answered answers by their uuids, read back from the typed rows."""
        ...

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        """The values that imports (ids) brought, by (unit id, import id)."""
        ...

    def carry(self, value: Value, unit: Unit) -> Value:
        """A value said of an earlier text of the unit, as it reads on the present one.

        Raises ``accounts.problems.Refused`` with the field that cannot be carried over: it is to be said anew."""
        ...

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], policy: Mapping[str, Any]) -> list[Verdict]:
        """Gold per field from the k counted answers to one unit, by the round's policy. Pure: writes nothing."""
        ...

    def before_decisions(self, units: Sequence[Unit]) -> None:
        """Called in the transaction that decides these units, before what is in force is read. Most kinds have
        nothing to do."""
        ...

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Called when the decisions are inserted: for a kind whose values other rows follow."""
        ...

    def row(self, value: Value) -> dict[str, str]:
        """The cells of a value, by column: what its agreement is computed from, and what a release has of it."""
        ...

    def sentence(self, field: str, value: Value) -> str:
        """One field of a value in words, for lists and the history."""
        ...


__all__ = ["Comparison", "Scale"]

_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known. Called from ``AppConfig.ready``, once a kind."""
    if kind.key in _kinds:
        raise ValueError(f"The kind {kind.key!r} is registered twice.")
    _kinds[kind.key] = kind


def get(key: str) -> Kind:
    """The kind of that key; KeyError where there is none."""
    return _kinds[key]


def all_kinds() -> list[Kind]:
    return list(_kinds.values())


def reason_in_words(kind: Kind, code: str) -> str:
    """Why a unit was skipped, as the person read it; the code itself where the kind no longer has it."""
    return next((reason.text for reason in kind.skip_reasons if reason.code == code), code)
