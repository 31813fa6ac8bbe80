"""The agreement of a round as its page shows it: the report, with what is to be cited and what is disagreed on."""

from typing import Any

from .. import kinds
from ..adjudication import queue
from ..models import Round, Unit
from .citing import citation

Json = dict[str, Any]


def page(round: Round, report: Json, *, curates: bool) -> Json:
    """A measured report with sentences to cite, and its contested items with their unit and text. ``curates``: says
    too which of them wait for adjudication. A fixed number of queries."""
    items = {row["item"] for measure in report["measures"] for row in measure["contested"]}
    units = _units(round, items)
    texts = kinds.get(round.kind).texts(set(units.values())) if units else {}
    waits = {w.unit for w in queue.waiting(round)} if units and curates and not round.is_open else set()

    def contested(row: Json) -> Json:
        unit = units.get(row["item"])
        return row | {"unit": unit, "text": texts.get(unit or 0, ""), "waits": unit in waits}

    measures = [
        measure | {"citation": citation(measure), "contested": [contested(row) for row in measure["contested"]]}
        for measure in report["measures"]
    ]
    return report | {"measures": measures}


def _units(round: Round, items: set[str]) -> dict[str, int]:
    """The units that items are of: an item is the key of one, or that and a part of it. One query."""
    keys = {item: _beginnings(item) for item in items}
    asked = {key for beginnings in keys.values() for key in beginnings}
    # A corrected text keeps its key: the newest unit is the one that people would look at.
    rows = Unit.objects.filter(project=round.project_id, key__in=asked, assignments__round=round).order_by("pk")
    ids = dict(rows.values_list("key", "pk")) if asked else {}
    return {item: ids[key] for item, found in keys.items() for key in found if key in ids}


def _beginnings(item: str) -> list[str]:
    """What stands before each of its spaces, and the whole item, which comes last."""
    words = item.split(" ")
    return [" ".join(words[: n + 1]) for n in range(len(words))]
