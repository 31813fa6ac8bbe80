"""What was noticed of an import, each with the unit where it is to be seen."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from projects.models import Project, Unit

_INPUT = re.compile(r"input (\d+)")


def with_units(project: Project, notices: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The notices with the id of their unit: its text, else its item; None where the project has neither. One query."""
    keys = [_keys(notice) for notice in notices]
    rows = Unit.objects.filter(project=project, key__in={key for some in keys for key in some}, superseded_by=None)
    found = dict(rows.order_by("pk").values_list("key", "pk"))
    units = [next((found[key] for key in some if key in found), None) for some in keys]
    return [{**notice, "unit": unit} for notice, unit in zip(notices, units, strict=True)]


def _keys(notice: Mapping[str, Any]) -> list[str]:
    """Of the text, then of the whole item."""
    item, place = notice["item"], notice["place"]
    number = _INPUT.fullmatch(place)
    position = "0" if place == "target" else number[1] if number else None
    return [*([f"{item}/{position}"] if position else []), item] if item else []
