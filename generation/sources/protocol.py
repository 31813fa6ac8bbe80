"""The interface of levels, and the texts of a unit."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import QuerySet

from annotation.models import SplitLevel, Study
from projects.models import Project

from ..backends.protocol import InputText, Source
from ..models import UnitLevel

#: Order of a row in the corpus, by two numbers, and its unit. None: no run has asked for the unit yet.
Position = tuple[int, int, int | None]


@dataclass(frozen=True)
class Reference:
    """A reference text of a summary, and its unit. ``name``: the name of a written summary, such as extractive."""

    unit: int
    key: str
    text: str
    name: str = ""


@dataclass(frozen=True)
class Material:
    """One unit with the input of a summariser and its references.

    ``own`` is the unit's own target, if it is known. ``propositions`` has each proposition of the review of a document,
    ``written`` the summaries that people wrote of a passage or question. ``review`` is the review, or the question, by
    which intervals are clustered.
    """

    source: Source
    own: Reference | None
    propositions: tuple[Reference, ...]
    review: int
    written: tuple[Reference, ...] = ()

    @property
    def references(self) -> tuple[Reference, ...]:
        """The texts that a summary is compared with, the unit's own target first."""
        return (*((self.own,) if self.own else ()), *self.propositions, *self.written)


class UnitSource(ABC):
    """A level: the units of a project in corpus order, and their texts. Stateless."""

    level: ClassVar[UnitLevel]
    #: Plural noun for the units.
    name: ClassVar[str]
    #: The fields of a row that give its order in the corpus.
    order: ClassVar[tuple[str, str]] = ("position", "id")
    #: The field of a row that has the unit.
    unit: ClassVar[str] = "unit_id"
    #: Levels of splits whose parts divide the units, without a text or study in two parts. Its own is the first.
    splits: ClassVar[tuple[SplitLevel, ...]]
    #: The field of a row that has the key of its review or question, by which a split of these divides it.
    group: ClassVar[str] = "review__pmid"
    #: Whether a summariser of another level can also read these units.
    is_alternative: ClassVar[bool] = True

    @abstractmethod
    def rows(self, project: Project) -> QuerySet[Any]:
        """Return one row per unit, also for units that do not exist yet (see `existing_units`)."""

    @abstractmethod
    def with_targets(self, projects: Iterable[int]) -> set[int]:
        """Return those of the projects that may have units with a target. One query."""

    @abstractmethod
    def materials(self, units: Sequence[int], *, pages: bool = False) -> dict[int, Material]:
        """Return the material of these units, by unit id. Units without inputs and retired units are left out.

        With ``pages``, which only levels of passages have, the inputs are the whole pages.
        """

    @abstractmethod
    def sizes(self, units: Sequence[int], *, pages: bool = False) -> Mapping[int, int]:
        """Return the number of input characters of each unit. Units without inputs may be missing."""

    def existing(self, project: Project) -> QuerySet[Any]:
        """Return the rows whose units exist."""
        return self.rows(project)

    def existing_units(self, positions: Sequence[Position]) -> list[int]:
        """Return the units of positions, and create those that do not exist yet."""
        return [unit for _, _, unit in positions if unit is not None]

    def skipped(self, project: Project) -> dict[str, int]:
        """Return how many reviews or units are no unit of this level, by reason."""
        return {}

    def first_key(self, project: Project) -> str | None:
        """Return the key of the first unit, or None."""
        key: str | None = self.rows(project).order_by(*self.order).values_list("key", flat=True).first()
        return key

    def matching_keys(self, project: Project, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that belong to units."""
        return set(self.rows(project).filter(key__in=keys).order_by().values_list("key", flat=True))


def input_of(text: str, study: Study, tagged: str = "") -> InputText:
    return InputText(text, study.title, study.pmid, tagged=tagged)
