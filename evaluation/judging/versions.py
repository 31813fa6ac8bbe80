"""Versions of judges: their settings, their facts, and how a worker loads them."""

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Max

from accounts.models import User
from api.outgoing.transport import Limits
from api.parameters import Parameter, Takes, check
from api.problems import Conflict, Refused
from audit.digests import digest_of
from audit.log import record
from generation import backends
from generation.backends.identity import DEFAULT, GPU, checked, queue_of
from generation.backends.openai.client import Client
from generation.backends.protocol import BackendError, PassingError
from generation.endpoints import Endpoint
from generation.models import ProjectEndpoint
from generation.project_endpoints.access import stored
from generation.project_endpoints.queries import endpoint_named
from projects.jobs import batches, jobs
from projects.models import Job, Project

from ..models import Judge, JudgeRun
from ..permissions import JUDGES_OF
from . import prompts
from .asking import EndpointJudge, LocalJudge, Settings
from .pages import kind_of

MAKE = "make_judge"
TRIES = 5
PROMPT = (
    Parameter(
        "extra",
        Takes.LONG_TEXT,
        "Additional instruction",
        "",
        help="Added to the protocol. Raters do not see it, so it makes the judge's task different from theirs.",
    ),
    Parameter(
        "reasons",
        Takes.SWITCH,
        "Ask for reasons",
        True,
        help="One sentence before each value. Costs tokens, and lets Concord check the language.",
    ),
)
DECODING = (
    Parameter("temperature", Takes.NUMBER, "Temperature", 0.0, minimum=0, maximum=2, required=True),
    Parameter("max_tokens", Takes.INTEGER, "Maximum new tokens", 2048, minimum=16, maximum=32_768, required=True),
    Parameter("seed", Takes.INTEGER, "Seed", 0, minimum=0, maximum=2**31 - 1000, required=True),
    Parameter("send_seed", Takes.SWITCH, "Send the seed", True, help="Samples have consecutive seeds."),
    Parameter(
        "json_mode", Takes.SWITCH, "Ask for JSON", False, help="Sends response_format; not every endpoint accepts it."
    ),
    Parameter(
        "retries", Takes.INTEGER, "Repeat an invalid answer", 2, minimum=0, maximum=10, required=True, help="At most."
    ),
    Parameter("timeout", Takes.INTEGER, "Request timeout (s)", 120, minimum=1, maximum=1800, required=True),
)
#: Beginnings of model names, and the family they belong to.
_FAMILIES = {
    "GPT": r"gpt|chatgpt|o[1-9]\b|o[1-9]-",
    "Claude": r"claude",
    "Gemini": r"gemini|gemma|palm|bard",
    "Llama": r"(?:meta-)?llama|vicuna|alpaca",
    "Mistral": r"mistral|mixtral|ministral|magistral",
    "Qwen": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "Phi": r"phi",
    "Command": r"command|cohere|aya",
    "T5": r"t5|flan",
    "BART": r"bart|pegasus",
}


def family_of(model: str) -> str:
    """Return the family of a model by its name, or an empty string if the name is unknown."""
    name = model.rpartition("/")[2].lower()
    return next((family for family, pattern in _FAMILIES.items() if re.match(pattern, name)), "")


def request_judge(
    *,
    project: Project,
    name: str,
    endpoint: str = "",
    model: str,
    family: str = "",
    prompt: Mapping[str, Any] | None = None,
    decoding: Mapping[str, Any] | None = None,
    by: User | None,
) -> Judge | Job:
    """Create a version of a judge, or return the equal version of the same name.

    The facts of a chat model on this server are read by a job with the result ``{"judge": id}``. Raise `Refused` if a
    field is invalid.
    """
    fields = _checked(project, name, endpoint, model, family, prompt or {}, decoding or {})
    if endpoint:
        return make_judge(project=project, fields=fields, by=by)
    job, _ = jobs.request_job(
        project=project, kind=MAKE, queue=GPU, by=by, params={"fields": fields, JUDGES_OF: project.pk}
    )
    return job


def _checked(
    project: Project,
    name: str,
    endpoint: str,
    model: str,
    family: str,
    prompt: Mapping[str, Any],
    decoding: Mapping[str, Any],
) -> dict[str, Any]:
    errors: list[tuple[str, str]] = []
    if endpoint and endpoint_named(project, endpoint) is None:
        errors.append(("endpoint", "The project has no endpoint with this name."))
    if not model.strip():
        errors.append(("model", "Name the model."))
    checked_prompt, faults = check(PROMPT, prompt)
    errors += [(f"prompt.{field}", message) for field, message in faults]
    checked_decoding, faults = check(DECODING, decoding)
    errors += [(f"decoding.{field}", message) for field, message in faults]
    if errors:
        raise Refused(errors[0][1], errors=[{"field": field, "message": message} for field, message in errors])
    return {
        "name": name,
        "endpoint": endpoint,
        "model": model.strip(),
        "family": family.strip() or family_of(model.strip()),
        "prompt": {"template": prompts.TEMPLATE, **checked_prompt},
        "decoding": checked_decoding,
    }


def make_judge(*, project: Project, fields: Mapping[str, Any], by: User | None) -> Judge:
    """Read the facts of a judge and store the version. Raise `Refused` or `Conflict` if the model is unavailable."""
    row: ProjectEndpoint | None = None
    if fields["endpoint"]:
        found = endpoint_named(project, fields["endpoint"])
        if found is None:
            raise Refused.field("endpoint", "The project has no endpoint with this name.")
        endpoint, row = found
        facts: dict[str, Any] = {"base URL": endpoint.url, "reproducibility": "recorded"}
    else:
        facts = _local_facts(local_config(fields["model"], fields["decoding"], ""))
    content = {name: fields[name] for name in ("endpoint", "model", "prompt", "decoding")}
    digest = digest_of(content | {"facts": facts})
    for _ in range(TRIES):
        named = Judge.objects.filter(project=project, name=fields["name"])
        if existing := named.filter(digest=digest, family=fields["family"]).first():
            return existing
        if named.filter(digest=digest).exists():
            raise Refused.field("family", "This judge exists with another family. Use another name.")
        try:
            with batches.batch():
                judge = Judge.objects.create(
                    project=project,
                    name=fields["name"],
                    number=(named.aggregate(last=Max("number"))["last"] or 0) + 1,
                    endpoint=fields["endpoint"],
                    project_endpoint=row,
                    model=fields["model"],
                    family=fields["family"],
                    prompt=fields["prompt"],
                    decoding=fields["decoding"],
                    facts=facts,
                    digest=digest,
                    created_by=by,
                )
                log = {"name": judge.name, "number": judge.number, "digest": digest}
                record(actor=by, verb="make judge", obj=judge, project_id=project.pk, after=log)
            return judge
        except IntegrityError:
            continue
    raise Conflict("Others are creating versions of this judge. Try again.")


# Chat models on this server


def local_config(model: str, decoding: Mapping[str, Any], system: str) -> dict[str, Any]:
    """Return the configuration of the chat backend: one user turn with the page, and the protocol as system message."""
    sampling = decoding["temperature"] > 0
    generation = {"method": "sampling" if sampling else "greedy", "max_new_tokens": min(decoding["max_tokens"], 8192)}
    if sampling:
        generation["temperature"] = max(decoding["temperature"], 0.01)
    return checked(
        {
            "backend": "chat",
            "seed": decoding["seed"],
            "model": {"model": model},
            "prompt": {"system": system, "template": "{inputs}"},
            "decoding": generation,
        }
    )


def _local_facts(config: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a chat model, except the frame of its turns, which contains the protocol."""
    try:
        facts = backends.get("chat").facts(config)
    except BackendError as error:
        raise Refused.field("model", str(error)) from error
    except PassingError as error:
        raise Conflict(f"{error} Try again later.") from error
    return {name: value for name, value in facts.items() if name != "turns"}


def queue_of_judge(judge: Judge) -> str:
    return queue_of(local_config(judge.model, judge.decoding, "")) if judge.is_local else DEFAULT


# Loading


def endpoint_of(judge: Judge) -> Endpoint:
    """Return the endpoint of a judge. Raise `Refused` if it was removed or has another URL now."""
    if judge.project_endpoint:
        if judge.project_endpoint.removed_at:
            raise Refused(f"The endpoint {judge.endpoint!r} was removed. Create a new version of the judge.")
        return stored(judge.project_endpoint)
    endpoint: Endpoint | None = settings.GENERATION_ENDPOINTS.get(judge.endpoint)
    if endpoint is None or endpoint.url != judge.facts["base URL"]:
        raise Refused(
            f"The administrator removed or changed the endpoint {judge.endpoint!r}. Create a new version of the judge."
        )
    return endpoint


def check_endpoint(judge: Judge) -> None:
    """Raise `BackendError` if the endpoint of a judge was removed since it was loaded."""
    pk = judge.project_endpoint_id
    if pk and not ProjectEndpoint.objects.current().filter(pk=pk).exists():
        raise BackendError(f"The endpoint {judge.endpoint!r} was removed.")


def settings_of(run: JudgeRun) -> Settings:
    judge = run.judge
    decoding = judge.decoding
    return Settings(
        kind_of(run.design),
        run.system_message,
        judge.model,
        run.salt,
        decoding["temperature"],
        decoding["max_tokens"],
        decoding["seed"],
        decoding["send_seed"],
        decoding["json_mode"],
        decoding["retries"],
        run.concurrency,
    )


def load(run: JudgeRun) -> EndpointJudge | LocalJudge:
    """Load the judge of a run. Raise `BackendError` if the model cannot be loaded or has changed."""
    judge = run.judge
    if not judge.is_local:
        limits = Limits(total=float(judge.decoding["timeout"]))
        return EndpointJudge(settings_of(run), Client(endpoint_of(judge), settings.GENERATION_NETWORKS, limits))
    config = local_config(judge.model, judge.decoding, run.system_message)
    backend = backends.get("chat")
    facts = backend.facts(config)
    if {name: value for name, value in facts.items() if name != "turns"} != judge.facts:
        raise BackendError("The model has changed since this version was created. Create a new version of the judge.")
    return LocalJudge(settings_of(run), backend.load(config, facts))
