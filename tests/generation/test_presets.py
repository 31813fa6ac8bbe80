"""The papers' summarisers as versions to begin with: each is what its backend takes, and nothing in it is lost."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from accounts.problems import Refused
from generation import backends
from generation.backends.protocol import SECTIONS, InputText, Output, Source
from generation.identity import checked
from generation.presets import PRESETS, Preset, get
from projects.models import Project

each = pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)


def filled(preset: Preset) -> dict[str, Any]:
    """Its configuration, with something for what is left to whoever takes it."""
    config = copy.deepcopy(dict(preset.config)) | {"backend": preset.backend}
    for need in preset.needs:
        section, name = need.split(".")
        config.setdefault(section, {})[name] = "some"
    return config


@each
def test_a_backend_takes_it_and_every_value_in_it_acts(preset: Preset) -> None:
    config = filled(preset)
    clean = checked(config)
    for section in SECTIONS:
        for name, value in config.get(section, {}).items():
            assert clean[section][name] == value, f"{section}.{name} does not act"
    assert clean["level"] == config["level"]


@each
def test_what_it_leaves_open_is_needed_and_nothing_else_is(preset: Preset) -> None:
    config = dict(preset.config) | {"backend": preset.backend}
    if not preset.needs:
        checked(config)
        return
    with pytest.raises(Refused) as refused:
        checked(config)
    assert {error["field"] for error in refused.value.errors} == set(preset.needs)


@each
def test_it_says_where_it_is_from_and_on_what_terms(preset: Preset) -> None:
    assert preset.paper
    assert preset.note
    assert preset.licence or preset.backend in ("extractive", "imported") or preset.needs
    assert not preset.memory or preset.memory in preset.says


def test_keys_and_names_are_unique() -> None:
    assert len({preset.key for preset in PRESETS}) == len({preset.name for preset in PRESETS}) == len(PRESETS)


def test_the_papers_systems_are_all_there() -> None:
    assert {preset.key for preset in PRESETS} >= {
        "bart-xsum", "bart-cochrane", "biobart-cochrane", "pegasus-xsum", "pegasus-pubmed", "bigbird-pubmed", "primera",
        "ms2-bart", "ms2-led", "led-cochrane", "led-ms2", "lead-3", "random-3", "rouge-3", "textrank-3", "mmr-3",
        "bilstm", "pointer-generator",
    }  # fmt: skip
    assert {preset.backend for preset in PRESETS} == {"seq2seq", "multi_encode", "extractive", "imported"}
    assert get("bart-xsum").config["decoding"] == {
        "beams": 6, "max_length": 62, "min_length": 11, "no_repeat_ngram": 3, "forced_bos": "none",
    }  # fmt: skip


@each
def test_the_two_variants_of_m3_differ_in_the_prompt_alone(preset: Preset) -> None:
    if not preset.key.endswith("-pico"):
        return
    plain, prompted = filled(get(preset.key.removesuffix("-pico"))), filled(preset)
    assert prompted["assembly"].pop("pico") is True
    assert prompted == plain


@pytest.mark.parametrize("key", ["lead-3", "random-3", "rouge-3", "textrank-3", "mmr-3"])
def test_the_copying_ones_take_three_sentences(key: str) -> None:
    config = checked(filled(get(key)))
    backend = backends.get("extractive")
    text = "Nepralin helps. Relapse was rarer. Nobody was harmed. Costs rose. The trial was small."
    unit = Source(1, "1", (InputText(text),), question="Does nepralin help against relapse?")
    ((one,),) = backend.load(config, backend.facts(config)).summarise([unit])
    assert isinstance(one, Output)
    assert len(one.record["sentences"]) == 3


def test_the_form_of_a_new_version_offers_them(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    reply = client_of(lead).get("/api/v1/projects/eye/backends/").json()
    offered = {preset["key"]: preset for preset in reply["presets"]}
    assert set(offered) == {preset.key for preset in PRESETS}
    assert offered["pegasus-xsum"]["paper"].startswith("M3")
    assert "From memory" in offered["pegasus-xsum"]["says"]
    assert offered["bilstm"]["needs"] == ["model.file"]
