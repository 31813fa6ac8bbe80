"""Presets of the papers' summarisers: each is valid for its backend and complete."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from generation import backends
from generation.backends.identity import checked
from generation.backends.protocol import SECTIONS, InputText, Output, Source
from generation.systems.presets import PRESETS, Preset, get
from projects.models import Project

each = pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)


def filled(preset: Preset) -> dict[str, Any]:
    """Return its configuration with values for parameters that are left open."""
    config = copy.deepcopy(dict(preset.config)) | {"backend": preset.backend}
    for need in preset.needs:
        section, name = need.split(".")
        config.setdefault(section, {})[name] = "some"
    return config


@each
def test_the_backend_accepts_every_value_of_a_preset(preset: Preset) -> None:
    config = filled(preset)
    clean = checked(config)
    for section in SECTIONS:
        for name, value in config.get(section, {}).items():
            assert clean[section][name] == value, f"{section}.{name} does not act"
    assert clean["level"] == config["level"]


@each
def test_only_open_parameters_of_a_preset_are_required(preset: Preset) -> None:
    config = dict(preset.config) | {"backend": preset.backend}
    if not preset.needs:
        checked(config)
        return
    with pytest.raises(Refused) as refused:
        checked(config)
    assert {error["field"] for error in refused.value.errors} == set(preset.needs)


@each
def test_every_preset_names_its_paper_and_licence(preset: Preset) -> None:
    assert preset.paper
    assert preset.note
    assert preset.licence or preset.backend in ("extractive", "imported") or preset.needs
    assert not preset.memory or preset.memory in preset.says


def test_presets_say_that_m3_tested_its_prompt_for_ms2s_bart_only() -> None:
    prompted = [preset for preset in PRESETS if preset.key.endswith("-pico")]
    assert prompted
    assert all("only for MS^2's BART" in preset.says for preset in prompted)


def test_keys_and_names_are_unique() -> None:
    assert len({preset.key for preset in PRESETS}) == len({preset.name for preset in PRESETS}) == len(PRESETS)


def test_the_papers_systems_are_all_there() -> None:
    assert {preset.key for preset in PRESETS} >= {
        "bart-xsum",
        "bart-cochrane",
        "biobart-cochrane",
        "pegasus-cochrane",
        "pegasus-xsum",
        "pegasus-pubmed",
        "bigbird-pubmed",
        "primera",
        "primera-cochrane",
        "ms2-bart",
        "ms2-table",
        "ms2-led",
        "led-cochrane",
        "led-ms2",
        "lead-3",
        "random-3",
        "rouge-3",
        "textrank-3",
        "mmr-3",
        "bilstm",
        "pointer-generator",
    }
    assert {preset.backend for preset in PRESETS} == {"seq2seq", "multi_encode", "extractive", "imported"}


TAGGED = {"assembly.tags": "background and inputs"}
#: Values seen in papers, repositories and cards; and separately those known from memory only.
SEEN: dict[str, dict[str, Any]] = {
    "bart-xsum": {
        "model.model": "facebook/bart-large-xsum",
        "assembly.input_tokens": 1024,
        "decoding.beams": 6,
        "decoding.max_length": 62,
        "decoding.min_length": 11,
        "decoding.no_repeat_ngram": 3,
        "decoding.forced_bos": "none",
    },
    "bart-cochrane": {"assembly.input_tokens": 1024},
    "biobart-cochrane": {"assembly.input_tokens": 1024},
    "pegasus-cochrane": {"assembly.input_tokens": None},
    "primera-cochrane": {"assembly.input_tokens": 4096},
    "pegasus-xsum": {"model.model": "google/pegasus-xsum", "assembly.input_tokens": 512},
    "pegasus-pubmed": {"model.model": "google/pegasus-pubmed", "assembly.input_tokens": 1024},
    "bigbird-pubmed": {"model.model": "google/bigbird-pegasus-large-pubmed", "assembly.input_tokens": 4096},
    "primera": {"model.model": "allenai/PRIMERA", "assembly.input_tokens": 4096},
    "led-cochrane": {"model.model": "allenai/led-base-16384-cochrane", "assembly.input_tokens": 16_384},
    **{
        key: {
            "decoding.beams": 6,
            "decoding.min_length": 20,
            "decoding.max_length": 512,
            "decoding.length_penalty": 2.0,
            "decoding.no_repeat_ngram": 3,
            "decoding.early_stopping": "yes",
            "decoding.decoder_start": "bos",
            "assembly.markers": "ms2",
            "assembly.background": True,
            **more,
        }
        for key, more in {
            "ms2-bart": {
                "assembly.input_tokens": 1024,
                "assembly.documents": 25,
                "assembly.masking": "as the ms2 checkpoint",
                **TAGGED,
            },
            "ms2-bart-masked": {
                "assembly.input_tokens": 1024,
                "assembly.documents": 25,
                "assembly.masking": "masked",
                **TAGGED,
            },
            "ms2-led": {"assembly.input_tokens": 16_320, "assembly.full_attention": "background", **TAGGED},
            "ms2-table": {
                "assembly.input_tokens": 1024,
                "assembly.documents": 25,
                "assembly.masking": "as the ms2 checkpoint",
                "decoding.min_length": 2,
                "decoding.max_length": 10,
            },
        }.items()
    },
}
REMEMBERED: dict[str, dict[str, Any]] = {
    "pegasus-xsum": {"decoding.beams": 8, "decoding.length_penalty": 0.6, "decoding.max_length": 64},
    "pegasus-pubmed": {"decoding.beams": 8, "decoding.length_penalty": 0.8, "decoding.max_length": 256},
    "bigbird-pubmed": {"decoding.beams": 5, "decoding.length_penalty": 0.8, "decoding.max_length": 256},
    "primera": {"decoding.beams": 5, "decoding.max_length": 1024},
    "led-ms2": {"model.model": "allenai/led-base-16384-ms2", "assembly.input_tokens": 16_384},
}


def test_published_preset_values_are_verified_or_marked_as_recalled() -> None:
    found = {
        preset.key: {
            f"{section}.{name}": value
            for section in SECTIONS
            for name, value in preset.config.get(section, {}).items()
            if value != ""
        }
        for preset in PRESETS
        if preset.paper.startswith(("M3", "MS", "MSLR")) and not preset.key.endswith("-pico")
    }
    keys = SEEN.keys() | REMEMBERED.keys()
    assert found == {key: SEEN.get(key, {}) | REMEMBERED.get(key, {}) for key in keys}
    for key in found:
        remembered = {place: value for place, value in REMEMBERED.get(key, {}).items() if place.startswith("decoding")}
        assert bool(get(key).memory) == (key in REMEMBERED), key
        assert all(f"{value:,}" in get(key).memory for value in remembered.values()), key
    licences = {key: get(key).licence for key in found}
    assert licences["bart-xsum"] == "MIT"
    assert licences["bigbird-pubmed"] == licences["primera"] == "Apache-2.0"
    assert {key for key, licence in licences.items() if licence == "see the model card"} == {
        "pegasus-xsum",
        "pegasus-pubmed",
        "led-cochrane",
        "led-ms2",
    }


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
    assert "Not verified" in offered["pegasus-xsum"]["says"]
    assert offered["bilstm"]["needs"] == ["model.file"]
