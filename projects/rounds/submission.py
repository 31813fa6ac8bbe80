"""What a person submits of one slot, from wherever it comes."""

import uuid as uuids
from collections.abc import Sequence
from dataclasses import dataclass

from .. import kinds
from ..models import CameBy


@dataclass(frozen=True)
class Submission:
    """One submission as the client sent it; ``digest`` is the SHA-256 of its bytes. ``entry``: the id of the act that
    brings it, where that is another's than the author's."""

    uuid: uuids.UUID
    digest: str
    assignment: int
    revision: int
    kind: str
    outcome: str
    shown: int
    came_by: CameBy
    value: kinds.Value | None = None
    reason: str = ""
    active_ms: int = 0
    comment: str = ""
    flag: bool = False
    entry: int | None = None
    #: Ids of the decisions that were shown, in a round in which they are reviewed.
    references: Sequence[int] = ()
