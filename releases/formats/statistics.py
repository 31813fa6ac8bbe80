"""Statistics of the data set: M3's Table 2 by level, and the distribution of values, each with its n and method."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from annotation.corpus import statistics
from annotation.models import Modality, Polarity, Relation
from projects.models import Project

from .notes import Notes

METHODS = {
    "inputs_per_target": "inputs / targets; n = targets",
    "compression": "mean over targets of (words of all its inputs / words of the target), words split at white space; "
    "n = targets that have words",
    "reviews": "distinct reviews of the released targets",
    "studies": "distinct studies of the released inputs",
    "values": "the current value of each released proposition or cluster; n = how many there are",
    "project": "rows of the project, released or not",
}
SCALES: dict[str, list[str]] = {
    "relation": Relation.values,
    "polarity": Polarity.values,
    "modality": Modality.values,
    "cue": ["given", "none"],
}


def figures(project: Project, notes: Notes) -> dict[str, Any]:
    """Return the content of ``statistics.json``.

    ``levels`` (Table 2) and ``values`` describe the written rows, ``project`` all rows of the project.
    """
    return {
        "levels": [level.as_json() for level in notes.levels],
        "values": [_distribution(name, notes) for name in sorted(notes.values)],
        "project": _project(project),
        "methods": METHODS,
    }


def _project(project: Project) -> dict[str, Any]:
    """Return the summary of the project. Its PICO counts keep the released name ``slot`` of the element."""
    summary = statistics.summary(project)
    pico = [{"slot" if key == "element" else key: value for key, value in row.items()} for row in summary["pico"]]
    return summary | {"pico": pico}


def _distribution(name: str, notes: Notes) -> dict[str, Any]:
    """Return the count of every value of the scale, including zeros."""
    counts = notes.values[name]
    return {"name": name, "n": counts.total(), "counts": {v: counts[v] for v in SCALES[name.split()[-1]]}}


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "statistics.json", _content(project, notes)


def _content(project: Project, notes: Notes) -> Iterator[bytes]:
    yield json.dumps(figures(project, notes), ensure_ascii=False, indent=2).encode() + b"\n"
