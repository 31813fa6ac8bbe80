"""A review of MS^2 with its references: the published keys, and the values from which rows are made."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from measures.pio import Tag

from ...imports.format import Notice
from ...models import Role

REVIEW_KEYS = (
    "docid", "title", "authors", "abstract", "structured_abstract", "summary", "structured_summary",
    "included_studies", "ongoing_studies", "awaiting_studies", "excluded_studies", "general_references",
    "unattributed_references", "content", "doi", "s2id", "s2hash", "pmid", "interventions", "outcomes", "populations",
    "significances",
)  # fmt: skip
STUDY_KEYS = ("references", "identifiers", "metadata", "pmid", "doi")
REFERENCE_KEYS = (
    "identifiers", "metadata", "title", "doi", "pmid", "s2id", "s2hash", "abstract", "content", "publication_types",
    "significances", "interventions", "outcomes", "populations", "in_doc_significances",
)  # fmt: skip
#: Lists of quotes in a review, and the tag that marks them.
QUOTES = {"interventions": "int", "outcomes": "out", "populations": "pop"}
ROLES = {"included_studies": Role.INCLUDED, "general_references": Role.GENERAL}
LONGEST_ID = 40

Json = Mapping[str, Any]


class Sentence(NamedTuple):
    """A sentence of an abstract, without tags and with them.

    ``end`` and ``tags``: see `ReadingTask.SENTENCES`. ``end`` is None if the sentences are not those of the abstract.
    """

    label: str
    probabilities: list[float]
    text: str
    tagged: str
    end: int | None
    tags: int


#: One significance: the index of its pair, and columns of `Effect`: the direction, three probabilities, the range of
#: the evidence, its text if it is spaced differently, and the score. No class, because a review has a thousand.
EffectRow = tuple[int, str, float, float, float, int | None, int | None, str, float]


class Reference(NamedTuple):
    """A study in a review. ``place`` is the list and the index in it; ``text`` is None without an abstract.

    In a table, ``place`` is the name of the column with the abstract, and the line.
    """

    place: tuple[str, int]
    pmid: str
    text: str | None
    tags: list[Tag]
    #: None if the file has null.
    effects: list[EffectRow] | None

    @property
    def role(self) -> str:
        return ROLES.get(self.place[0], Role.INCLUDED)


class Item(NamedTuple):
    """A review with its references. ``value`` is the published object; no item is stored as it is."""

    key: str
    value: Json
    text: str
    tags: list[Tag]
    sentences: list[Sentence]
    target: str
    pairs: list[tuple[str, str]]
    effects: list[EffectRow] | None
    references: list[Reference]
    #: Places of references whose study the review has already.
    repeated: list[tuple[str, int]]
    notices: list[Notice]
    #: Number of spans in all abstracts.
    spans: int

    def published(self, reference: Reference) -> Json:
        """Return the published object of a reference."""
        return published_reference(self.value, reference.place)

    @property
    def n_effects(self) -> int:
        return sum(len(effects or ()) for effects in (self.effects, *(r.effects for r in self.references)))


def published_reference(value: Json, place: tuple[str, int]) -> Json:
    entry: Json = value[place[0]][place[1]]
    return entry["references"][0] if place[0] == "included_studies" else entry


def path_of(place: tuple[str, int]) -> str:
    """Return the path of the abstract of a reference."""
    if place[0] not in ROLES:
        return place[0]
    return f"{place[0]}[{place[1]}]{'.references[0]' if place[0] == 'included_studies' else ''}.abstract"


def key_of(value: Json) -> str:
    """Return the PMID of a review, or else its docid. Empty if neither is known."""
    pmid, docid = value.get("pmid"), value.get("docid")
    if isinstance(pmid, int | str) and not isinstance(pmid, bool) and pmid:
        return str(pmid)
    return docid if isinstance(docid, str) else ""
