"""Wording of table notes: versions, parameters and commands."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from api.parameters import Parameter
from measures.clustered import ENOUGH_OF_MEANS, FEW

from ... import metrics
from ...models import Run, Scoring
from ...scoring.computing import RULE

INTERVALS = (
    f"Means over items; in brackets 95% intervals, clustered by review: {RULE}. "
    "n: pairs of a summary and the text it is compared with."
)


def versions(named_runs: Iterable[tuple[str, Run]]) -> list[str]:
    """Return a note with the version number and hash of each row, for citation."""
    text = "; ".join(
        f"{name} ({run.version.level}) is version {run.version.number}, {run.version.hash[:12]}"
        for name, run in named_runs
    )
    return [f"Versions: {text}."] if text else []


def version_commands(verb: str, runs: Iterable[Run], *options: str) -> str:
    """Return the commands that run an action for the versions of these runs, one after another."""
    return " && ".join(
        shlex.join(
            [
                "manage.py",
                verb,
                "--project",
                run.version.system.project.slug,
                "--system",
                run.version.system.name,
                "--version",
                str(run.version.number),
                *options,
            ]
        )
        for run in runs
    )


def few_reviews(fewest: Mapping[str, int], clusters: str = "reviews") -> list[str]:
    """Return a note about intervals of few reviews or questions, or an empty list if there are none."""
    if not fewest:
        return []
    systems = join_words(f"{name} ({number})" for name, number in fewest.items())
    return [f"Fewer than {FEW} {clusters}: {systems}. Below {ENOUGH_OF_MEANS} {clusters}, means have no interval."]


def join_words(words: Iterable[str]) -> str:
    """Join one or more items for a sentence."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def changed_params(metric: str, scoring: Scoring | None) -> tuple[tuple[str, Any], ...]:
    """Return the non-default parameters of a scoring. A command that scores again must repeat them."""
    if scoring is None:
        return ()
    parameters = metrics.get(metric).parameters
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return tuple((n, value) for n, value in active_params(parameters, scoring.params).items() if value != defaults[n])


def option_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def active_params(parameters: Sequence[Parameter], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the active parameters in order of declaration, because PostgreSQL does not keep the order of keys."""
    inactive = {p.name for p in parameters if p.when and params.get(p.when[0]) not in p.when[1]}
    return {p.name: params[p.name] for p in parameters if p.name in params and p.name not in inactive}


def sort_names(libraries: Mapping[str, Any]) -> dict[str, Any]:
    """Sort by name at every depth, so that a table is byte-identical on every database."""
    return {key: sort_names(value) if isinstance(value, dict) else value for key, value in sorted(libraries.items())}


def format_values(values: Mapping[str, Any]) -> str:
    texts: Sequence[str] = [
        f"{name.replace('_', ' ')} {format_values(value) if isinstance(value, dict) else _format_value(value)}".strip()
        for name, value in values.items()
        if value not in (None, "", {})
    ]
    return ", ".join(texts)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
