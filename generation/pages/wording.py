"""Configurations in words: what a version is set to, and in what it differs from another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api.parameters import Parameter

from .. import backends
from ..backends.protocol import SECTIONS, Config, Facts

#: What the sections of a configuration are called where people read them.
TITLES = {
    "model": "The model", "assembly": "What it reads", "prompt": "How it is asked", "decoding": "How it writes",
}  # fmt: skip
_GENERAL = {"backend": "Backend", "level": "Level", "seed": "Seed"}


@dataclass(frozen=True)
class Line:
    """One parameter of a configuration, read out."""

    section: str
    name: str
    label: str
    words: str
    default: bool


@dataclass(frozen=True)
class Change:
    """One thing in which two versions differ. ``field`` is its dotted place; no words where one lacks it."""

    field: str
    label: str
    before: str
    after: str


def described(config: Config) -> list[Line]:
    """What a configuration says, section by section; what cannot act (see `Parameter.when`) is left out."""
    declared = _declared(config)
    return [
        Line(section, name, parameter.label if parameter else _plain(name), words(value),
             parameter is not None and value == parameter.default)
        for section in SECTIONS
        for name, value in (config.get(section) or {}).items()
        if _acts(parameter := declared.get((section, name)), config[section])
    ]  # fmt: skip


def differences(before: tuple[Config, Facts], after: tuple[Config, Facts]) -> list[Change]:
    """In what two versions, as (configuration, facts), differ, in the order of the later one."""
    declared = _declared(after[0]) | _declared(before[0])
    changes = []
    for old, new, facts in ((before[0], after[0], False), (before[1], after[1], True)):
        olds, news = dict(_flat(old)), dict(_flat(new))
        for place in dict.fromkeys((*news, *olds)):
            if olds.get(place) != news.get(place) or (place in olds) != (place in news):
                parameter = declared.get((place[0], place[-1])) if len(place) == 2 else None
                label = parameter.label if parameter and not facts else _label(place)
                changes.append(Change(".".join(place), label, _shown(olds, place), _shown(news, place)))
    return changes


def no_probe(config: Config) -> str:
    """Why versions of the configuration's backend cannot be probed; empty where they can."""
    try:
        return backends.get(config["backend"]).no_probe
    except KeyError:
        return "There is no such backend any more."


def words(value: Any) -> str:
    """A value as people read it."""
    match value:
        case None | "":
            return "not set"
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case list() | tuple():
            return ", ".join(words(item) for item in value) or "not set"
        case str() if not value.strip():
            return value.replace("\n", "↵").replace(" ", "␣")
    return str(value)


def _declared(config: Config) -> dict[tuple[str, str], Parameter]:
    """What the backend of a configuration declares now; nothing where it is no more."""
    try:
        sections: Mapping[str, tuple[Parameter, ...]] = backends.get(config["backend"]).sections
    except KeyError:
        return {}
    return {(section, parameter.name): parameter for section, every in sections.items() for parameter in every}


def _acts(parameter: Parameter | None, values: Mapping[str, Any]) -> bool:
    return not (parameter and parameter.when) or values.get(parameter.when[0]) in parameter.when[1]


def _flat(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, (*place, str(name)))
    else:
        yield place, value


def _shown(values: Mapping[tuple[str, ...], Any], place: tuple[str, ...]) -> str:
    return words(values[place]) if place in values else ""


def _label(place: tuple[str, ...]) -> str:
    if len(place) == 1 and place[0] in _GENERAL:
        return _GENERAL[place[0]]
    return ": ".join(_plain(name) for name in place)


def _plain(name: str) -> str:
    return name.replace("_", " ")
