"""Input values from which the corpus is built, independent of their source."""

import re
from typing import NamedTuple

from sql.expressions import fold_case

from ..models import Cluster, Element

ELEMENTS = tuple(Element.values)
PMID = re.compile(r"[1-9][0-9]{0,9}")


class TextLabels(NamedTuple):
    """Labels of one text. Cues are verbatim; "" means no cue."""

    polarity: str
    modality: str
    polarity_cue: str
    modality_cue: str


class Source(NamedTuple):
    """One input. ``pmid`` is another id if the document is not from PubMed. ``labels`` is set only in clusters."""

    pmid: str
    text: str
    labels: TextLabels | None = None


class Item(NamedTuple):
    """One target with its inputs.

    ``key`` is unique, and ``review`` is a PMID or another id. Only clusters have ``pico`` (in the order p, i, c, o),
    ``relation`` and ``labels``. ``abstract`` is the abstract of the review, if the source has it.
    """

    key: str
    review: str
    text: str
    inputs: tuple[Source, ...]
    labels: TextLabels | None = None
    pico: tuple[str, ...] = ()
    relation: str = ""
    abstract: str = ""


def refresh_search(cluster: Cluster) -> None:
    """Update the search text of a cluster: its key, PICO elements, texts and study PMIDs."""
    claims = cluster.propositions.current().select_related("study").order_by("position")
    texts = [t for claim in claims for t in ((claim.study.pmid,) if claim.study else ()) + (claim.text,)]
    elements = cluster.pico.order_by("id").values_list("text", flat=True)
    Cluster.objects.filter(pk=cluster.pk).update(search=fold_case(cluster.key, *elements, *texts))
