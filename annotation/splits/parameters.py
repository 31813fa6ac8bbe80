"""The parameters of a split, from a command, a page or a job."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from api.problems import Refused
from measures.splits.allotting import MOST_PARTS, Part

from ..models import SplitLevel, SplitMode

#: Names are parts of paths on the Hugging Face hub, and of file names.
NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
PART = re.compile(r"[A-Za-z]\w{0,39}", re.ASCII)
DEFAULT_PARTS = (Part("train", 0.8), Part("dev", 0.1), Part("test", 0.1))
STRATA = ("topic", "relation", "polarity", "size")
#: Where topics come from: the topic of a search, a column of an imported table, or clusters of titles.
TOPICS = ("screening", "column", "titles")
COMPONENT_MODES = (SplitMode.STRICT, SplitMode.DROP)


@dataclass(frozen=True)
class SplitParameters:
    """The parameters of a split.

    ``level``: "" for the finest that the project has. ``strata``: None for each that can be in every part.
    ``topics``: "" for screening, else a column. ``near``: the similarity from which texts are near-equal; None: not
    searched. ``drop``: keys of reviews that leave. ``allow_empty``: a value of a stratum may be missing from a part.
    """

    name: str
    level: str = ""
    mode: str = SplitMode.STRICT
    parts: Sequence[Part] = DEFAULT_PARTS
    seed: int = 0
    strata: Sequence[str] | None = None
    topics: str = ""
    encoder: str = ""
    topic_count: int = 10
    near: float | None = None
    drop: Sequence[str] = field(default_factory=tuple)
    allow_empty: bool = False

    @property
    def is_by_component(self) -> bool:
        return self.mode in COMPONENT_MODES

    def check(self) -> None:
        """Raise `Refused` with the field that is wrong."""
        if not NAME.fullmatch(self.name) or len(self.name) > 40:
            raise Refused.field(
                "name", f"{self.name!r} is not a name. Use up to 40 small letters and digits, with - or _ in between."
            )
        if self.level and self.level not in SplitLevel.values:
            raise Refused.field("level", f"{self.level!r} is not a level. Levels: {', '.join(SplitLevel.values)}.")
        if self.mode not in SplitMode.values:
            raise Refused.field("mode", f"{self.mode!r} is not a mode. Modes: {', '.join(SplitMode.values)}.")
        if self.is_by_component:
            _check_parts(self.parts)
        if unknown := set(self.strata or ()) - set(STRATA):
            raise Refused.field("strata", f"Unknown strata: {', '.join(sorted(unknown))}. Strata: {', '.join(STRATA)}.")
        if self.topics and self.topics not in TOPICS:
            raise Refused.field("topics", f"{self.topics!r} is not a source of topics: {', '.join(TOPICS)}.")
        if self.encoder and self.topics != "titles":
            raise Refused.field("encoder", "An encoder needs topics from titles.")
        if not 2 <= self.topic_count <= 100:
            raise Refused.field("topic_count", "Choose 2 to 100 topics.")
        if self.near is not None and not 0.5 <= self.near < 1:
            raise Refused.field("near", "The similarity must be at least 0.5 and below 1.")
        if self.drop and self.mode != SplitMode.DROP:
            raise Refused.field("drop", "Reviews leave only in the mode drop.")
        if self.mode == SplitMode.DROP and not self.drop:
            raise Refused.field("drop", "Name the reviews that leave.")

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"drop": list(self.drop), "strata": None if self.strata is None else list(self.strata)}

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> "SplitParameters":
        parts = tuple(Part(part["name"], part["share"]) for part in content["parts"])
        return cls(**{**content, "parts": parts})


def parse_parts(text: str) -> tuple[Part, ...]:
    """Return the parts of a text such as ``train=80,dev=10,test=10``. Raise `Refused`."""
    parts = []
    for piece in text.split(","):
        name, sign, share = piece.strip().partition("=")
        try:
            parts.append(Part(name, float(share.rstrip("%")) / 100))
        except ValueError:
            sign = ""
        if not sign:
            raise Refused.field("parts", f"{piece.strip()!r} is not a part. Example: train=80,dev=10,test=10.")
    return tuple(parts)


def _check_parts(parts: Sequence[Part]) -> None:
    names = [part.name for part in parts]
    total = 100 * sum(part.share for part in parts)
    if not 2 <= len(parts) <= MOST_PARTS:
        raise Refused.field("parts", f"Name 2 to {MOST_PARTS} parts.")
    for part in parts:
        if not PART.fullmatch(part.name):
            raise Refused.field("parts", f"{part.name!r} is not a name of a part. Use letters, digits and _.")
        if not part.share > 0:
            raise Refused.field("parts", f"The share of {part.name} must be above 0.")
    if repeated := {name for name in names if [n.casefold() for n in names].count(name.casefold()) > 1}:
        raise Refused.field("parts", f"{' and '.join(sorted(repeated))}: each part needs a name of its own.")
    if abs(total - 100) > 0.01:
        raise Refused.field("parts", f"The shares sum to {total:g}%. They must sum to 100%.")
