"""Invalid templates are refused by field when a version is registered, not by a worker."""

from typing import Any

import pytest
from django.conf import LazySettings

from api.problems import Refused
from generation import metrics
from generation.backends.identity import checked
from generation.endpoints import parse
from generation.models import Version
from generation.scoring import actions as scoring_actions
from generation.systems.actions import create_system, request_version
from projects.models import Job, Project

BACKENDS: dict[str, dict[str, Any]] = {"chat": {"model": "llama"}, "openai": {"model": "tiny"}}


@pytest.fixture(autouse=True)
def endpoints(settings: LazySettings) -> None:
    settings.GENERATION_ENDPOINTS = parse("lab=http://127.0.0.1:1/v1")


def faults(backend: str, **prompt: str) -> dict[str, str]:
    try:
        checked({"backend": backend, "model": BACKENDS[backend], "prompt": prompt})
    except Refused as refused:
        return {error["field"]: error["message"] for error in refused.errors}
    return {}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("Say something.", "The template must contain {inputs}, or the text of the unit is not included."),
        ("{ inputs }", "The template must contain {inputs}, or the text of the unit is not included."),
        (
            "{inputs} {input}",
            "Unknown field {input}; the fields are {inputs}, {background}, {question}, {pico}, {p}, {i}, {c}, {o}.",
        ),
        ("{inputs} and {question, please", "Opening brace without a closing brace: '{question, please'."),
        ("Of {question}}: {inputs}", "Closing brace without an opening brace: 'Of {question}}'."),
        ("Read {{inputs}}", "Write fields in single braces: {inputs}."),
        ("", "This value is required."),
    ],
)
def test_an_ambiguous_prompt_template_is_refused(backend: str, template: str, message: str) -> None:
    assert faults(backend, template=template) == {"prompt.template": message}


@pytest.mark.parametrize("backend", BACKENDS)
def test_braces_that_are_no_field_stay_text(backend: str) -> None:
    literal = '{{7*7}} {x.__class__} {inputs!r} {0} {{}} {{word}} {"summary": "..."} {% if x %} ${ x } {inputs}'
    assert faults(backend, template=literal) == {}


def test_the_system_message_of_an_endpoint_takes_all_fields_but_the_inputs() -> None:
    assert faults("openai", system="Be brief about {i}: {question}") == {}
    assert faults("openai", system="{inputs}")["prompt.system"].startswith("Unknown field {inputs}; the fields are {b")


def test_the_system_message_of_a_chat_model_is_the_same_for_all_units() -> None:
    assert faults("chat", system='Answer as {"summary": ""}.') == {}
    refusal = "Unknown field {question}; this text has no fields."
    assert faults("chat", system="Answer {question}") == {"prompt.system": refusal}


def test_an_invalid_template_is_refused_before_a_job_is_queued(project: Project) -> None:
    system = create_system(project=project, name="Chat", by=None)
    config = {"backend": "chat", "model": BACKENDS["chat"], "prompt": {"template": "Say something."}}
    with pytest.raises(Refused) as refused:
        request_version(system=system, config=config, by=None)
    assert [error["field"] for error in refused.value.errors] == ["prompt.template"]
    assert not Job.objects.exists()
    assert not Version.objects.exists()


def test_a_classifier_prompt_accepts_its_two_fields_only() -> None:
    given = {"classifier": "model", "model": "evidence", "decreases": "down", "no_change": "same", "increases": "up"}
    direction = metrics.get("direction")
    assert scoring_actions.checked(direction, {**given, "prompt": "{intervention} on {outcome}"})
    with pytest.raises(Refused) as refused:
        scoring_actions.checked(direction, {**given, "prompt": "{intervention} on {outcomes}"})
    assert refused.value.errors == [
        {"field": "params.prompt", "message": "Unknown field {outcomes}; the fields are {intervention}, {outcome}."}
    ]
