"""The hash of a version covers everything that can change an output, and nothing else."""

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from api.parameters import Parameter, Takes, check
from api.problems import Refused
from generation import backends
from generation.backends.identity import checked, hash_of
from generation.backends.protocol import Backend
from generation.endpoints import parse


@pytest.fixture(autouse=True)
def endpoints(settings: LazySettings) -> None:
    settings.GENERATION_ENDPOINTS = parse("lab=http://127.0.0.1:9/v1,other=http://127.0.0.1:10/v1")


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, (int, float)) else f"{value} other"


def with_leaf(config: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    made = copy.deepcopy(config)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return made


def whole(backend: Backend) -> dict[str, Any]:
    """Return a configuration of the backend: defaults, and values for required parameters."""
    given: dict[str, Any] = {"backend": backend.key}
    for section, parameters in backend.sections.items():
        needed = [p for p in parameters if p.required]
        given[section] = {p.name: p.default or (p.choices[0] if p.choices else "some") for p in needed}
    return checked(given)


FACTS = {
    "weights": {"model.safetensors": "a" * 64},
    "tokenizer": "b" * 64,
    "commit": "c" * 40,
    "device": "cpu",
    "dtype": "float32",
    "libraries": {"torch": "2.13.0", "transformers": "5.23.0"},
    "defaults": {"num_beams": 4},
}


@pytest.mark.parametrize("backend", backends.every(), ids=lambda backend: backend.key)
def test_changing_any_one_field_changes_the_hash(backend: Backend) -> None:
    config = whole(backend)
    hashes = {hash_of(config, FACTS)}
    paths = list(leaves(config))
    for path, value in paths:
        hashes.add(hash_of(with_leaf(config, path, changed(value)), FACTS))
    facts = list(leaves(FACTS))
    for path, value in facts:
        hashes.add(hash_of(config, with_leaf(FACTS, path, changed(value))))
    assert len(hashes) == 1 + len(paths) + len(facts)


@pytest.mark.parametrize("backend", backends.every(), ids=lambda backend: backend.key)
def test_an_explicit_default_has_the_hash_of_an_omitted_one(backend: Backend) -> None:
    config = whole(backend)
    assert checked(config) == config
    assert hash_of(checked(config), FACTS) == hash_of(config, FACTS)
    assert {p.name for s in backend.sections.values() for p in s} <= {path[-1] for path, _ in leaves(config)}


def test_the_order_of_fields_does_not_change_the_hash() -> None:
    config = whole(backends.get("extractive"))
    assert hash_of(dict(reversed(config.items())), FACTS) == hash_of(config, FACTS)


def test_every_wrong_field_is_named() -> None:
    with pytest.raises(Refused) as refused:
        checked(
            {
                "backend": "extractive",
                "level": "book",
                "seed": -1,
                "colour": "red",
                "decoding": {"sentences": 0, "method": "magic", "speed": 3},
                "assembly": [],
            }
        )
    assert {error["field"] for error in refused.value.errors} == {
        "colour",
        "level",
        "seed",
        "decoding.speed",
        "decoding.method",
        "decoding.sentences",
        "assembly",
    }


@pytest.mark.parametrize("key", ["nothing", "", None, [], {}])
def test_an_unknown_backend_is_refused_with_the_known_ones(key: Any) -> None:
    with pytest.raises(Refused, match="extractive"):
        checked({"backend": key})


COUNT = Parameter("count", Takes.INTEGER, "Count", 3, minimum=1, maximum=9)
RATE = Parameter("rate", Takes.NUMBER, "Rate", 1.0, minimum=0, when=("how", ("fast",)))
HOW = Parameter("how", Takes.CHOICE, "How", "slow", choices=("slow", "fast"))
NAME = Parameter("name", Takes.TEXT, "Name", required=True)


def test_a_parameter_that_cannot_act_keeps_its_default() -> None:
    assert check((HOW, RATE), {"how": "slow", "rate": 7}) == ({"how": "slow", "rate": 1.0}, [])
    assert check((HOW, RATE), {"how": "fast", "rate": 7}) == ({"how": "fast", "rate": 7.0}, [])


TYPES: dict[Takes, tuple[type, ...]] = {
    Takes.TEXT: (str,),
    Takes.LONG_TEXT: (str,),
    Takes.CHOICE: (str,),
    Takes.SWITCH: (bool,),
    Takes.INTEGER: (int, type(None)),
    Takes.NUMBER: (float, type(None)),
}


@pytest.mark.parametrize("backend", backends.every(), ids=lambda backend: backend.key)
@pytest.mark.parametrize(
    "value", [None, "", " ", "auto", [], {}, True, 0, -1, 7.5, 10**400, float("inf")], ids=lambda v: repr(v)[:8]
)
def test_any_value_is_refused_or_has_the_declared_type(backend: Backend, value: Any) -> None:
    for parameters in backend.sections.values():
        shown = [dataclasses.replace(p, when=None) for p in parameters]
        clean, faults = check(shown, {p.name: value for p in shown})
        for p in shown:
            if p.name not in dict(faults):
                assert isinstance(clean[p.name], TYPES[p.takes]), p.name
                assert p.takes is not Takes.CHOICE or clean[p.name] in p.choices, p.name
                assert not (p.required and clean[p.name] in (None, "")), p.name


@pytest.mark.parametrize("value", [0, 10, True, 1.5, "3", float("nan"), [], {}])
def test_numbers_out_of_bounds_are_refused(value: Any) -> None:
    assert [name for name, _ in check((COUNT,), {"count": value})[1]] == ["count"]


@pytest.mark.parametrize("value", ["", None])
def test_required_parameters_are_checked(value: Any) -> None:
    assert check((NAME,), {"name": value})[1] == [("name", "This value is required.")]


@pytest.mark.parametrize("value", ["a\0b", "x" * 501, 3, ["a"]])
def test_a_text_is_short_and_holds_no_nul(value: Any) -> None:
    assert check((NAME,), {"name": value})[1]
