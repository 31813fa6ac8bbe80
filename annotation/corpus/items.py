"""What the corpus is built from, wherever it comes from: plain values, no rows."""

import re
from typing import NamedTuple

from ..models import Slot

SLOTS = tuple(Slot.values)
PMID = re.compile(r"[1-9][0-9]{0,9}")


class Said(NamedTuple):
    """Labels of one text; cues verbatim, "" where there is none."""

    polarity: str
    modality: str
    polarity_cue: str
    modality_cue: str


class Source(NamedTuple):
    """One input, by the PMID of its study; ``said`` only in a cluster."""

    pmid: str
    text: str
    said: Said | None = None


class Item(NamedTuple):
    """One target with its inputs, by a key of its own; ``review`` is a PMID. ``pico`` (in the order p, i, c, o),
    ``relation`` and ``said`` are a cluster's only."""

    key: str
    review: str
    text: str
    inputs: tuple[Source, ...]
    said: Said | None = None
    pico: tuple[str, ...] = ()
    relation: str = ""
