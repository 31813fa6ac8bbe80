"""Make sets of suggestions in a job that can be resumed: ask a chat model, or adopt machine readings."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings

from accounts.models import User
from annotation.imports.redistribution import redistribution_of
from api.outgoing.transport import Limits
from api.problems import Conflict, Refused
from audit.log import record
from projects import kinds
from projects.guidelines.actions import latest_guideline
from projects.jobs import batches, jobs
from projects.jobs.batches import Progress, silent
from projects.models import Import, Job, Project, Round, Suggestion, SuggestionSet, Unit
from projects.models import SuggestionSource as Source
from projects.rounds import choosing
from projects.suggestions.actions import SetPlan, create_set, named, store_suggestions, suggestion
from projects.suggestions.checking import checked_value, page_round

from ..backends.chat import ChatBackend
from ..backends.identity import GPU
from ..backends.openai.backend import CLIENT, EndpointSummariser, OpenAIBackend
from ..backends.openai.client import Client
from ..backends.protocol import BackendError, PassingError, Summariser
from ..endpoints import Endpoint
from ..project_endpoints.queries import endpoint_named
from . import asking
from .forms import FORMS

KIND = "suggest_values"
#: Units of one transaction: asked of a model, or read from the database.
ASKED, READ = 16, 500
TIMEOUT = 120.0


@dataclass(frozen=True)
class SuggestionRequest:
    """What a person asks for. ``model``: a folder below the models folder, or a model of the endpoint."""

    kind: str
    name: str
    source: str
    model: str = ""
    endpoint: str = ""
    imported: int | None = None
    instruction: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)
    sample: int | None = None
    seed: int = 1
    temperature: float = 0.0
    max_tokens: int = 512
    #: Why texts of unknown licence may be sent to an endpoint outside.
    reason: str = ""


def queue_suggestions(*, project: Project, request: SuggestionRequest, by: User | None) -> Job:
    """Queue the job that makes a set of suggestions, or continues one of the same name. Raise `Refused`."""
    check_request(project, request)
    queue = GPU if request.source == Source.CHAT and not request.endpoint else "default"
    return jobs.request_job(project=project, kind=KIND, params=asdict(request), by=by, queue=queue)[0]


def check_request(project: Project, request: SuggestionRequest) -> None:
    """Raise `Refused` for a request that cannot work: a wrong task, model, endpoint, licence, or no unit."""
    if request.kind not in FORMS:
        raise Refused.field("kind", f"Models can suggest values for: {', '.join(FORMS)}.")
    if request.source == Source.READINGS:
        if not Import.objects.filter(project=project, pk=request.imported or 0).exists():
            raise Refused.field("imported", "This project has no machine readings with this id.")
    elif not request.model:
        raise Refused.field("model", "Choose a model.")
    elif request.endpoint:
        endpoint = endpoint_of(project, request.endpoint)
        texts = outgoing(project, request)
        if endpoint.is_outside and texts["unknown"] and not request.reason.strip():
            raise Refused.field(
                "reason", f"The licence of the texts of {texts['unknown']} units is unknown. Say why they may be sent."
            )
        if endpoint.is_outside and not texts["allowed"] + texts["unknown"]:
            raise Refused.field("endpoint", "The licences of all texts forbid to send them to this endpoint.")
    if not chosen_units(project, request):
        raise Refused.field("filters", "No unit matches.")


def endpoint_of(project: Project, name: str) -> Endpoint:
    named = endpoint_named(project, name)
    if named is None:
        raise Refused.field("endpoint", "This project has no endpoint with this name.")
    return named[0]


def chosen_units(project: Project, request: SuggestionRequest) -> list[int]:
    """Return the ids of the units that the request chooses, before a task creates units of its own."""
    kind = kinds.get(request.kind)
    ids = list(choosing.units(project, kind.key, request.filters, "", request.options).values_list("pk", flat=True))
    if request.sample is None or request.sample >= len(ids):
        return ids
    return sorted(choosing.sample(ids, request.sample, request.seed, kind=kind.key, strata=()))


def outgoing(project: Project, request: SuggestionRequest) -> dict[str, int]:
    """Return the numbers of units by whether the licences of their texts allow to send them to another server."""
    states = redistribution_of(project.pk, chosen_units(project, request)).values()
    counts = {"allowed": 0, "forbidden": 0, "unknown": 0}
    for state in states:
        counts["unknown" if state is None else "allowed" if state else "forbidden"] += 1
    return counts


def suggest(
    *,
    project: Project,
    request: SuggestionRequest,
    by: User | None,
    job: int | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Make the suggestions of a set that are missing, some per transaction, and return their numbers.

    A unit with a stored suggestion, valid or not, is not asked again.
    """
    check_request(project, request)
    round = page_round(project, request.kind, request.options)
    chosen = [(pk, 0) for pk in chosen_units(project, request)]
    with batches.batch():
        ids = [unit for unit, _ in kinds.get(request.kind).create_items(round, chosen)]
    source = _Reading(round, request) if request.source == Source.READINGS else _Asking(project, round, request, by)
    try:
        with batches.batch():
            made = _set_of(project, source.plan, by, job)
        forbidden = source.refuse(ids)
        done = set(made.suggestions.values_list("unit", flat=True))
        left = [pk for pk in ids if pk not in done and pk not in forbidden]
        total, reached = len(ids) - len(forbidden), len(ids) - len(forbidden) - len(left)
        for first in range(0, len(left), source.batch):
            progress(reached, total, "asking the model")
            rows, counts = source.suggest(made, Unit.objects.in_bulk(left[first : first + source.batch]))
            reached += len(left[first : first + source.batch])
            with batches.batch(reached, total):
                store_suggestions(made, rows)
                _count(made, counts | ({"forbidden": len(forbidden)} if forbidden else {}))
    finally:
        source.close()
    valid = made.suggestions.filter(value__isnull=False).count()
    return {"set": made.pk, "name": made.name, "units": len(ids), "valid": valid, "forbidden": len(forbidden)}


def _set_of(project: Project, plan: SetPlan, by: User | None, job: int | None) -> SuggestionSet:
    """Return the set of a plan, which is created by the first attempt. Raise `Conflict` for another version."""
    found = named(project, plan)
    if found and found.version != plan.version:
        raise Conflict(f"There are suggestions named {plan.name!r} by another version. Choose another name.")
    made = found or create_set(project=project, plan=plan, by=by)
    SuggestionSet.objects.filter(pk=made.pk).update(job_id=job)
    return made


def _count(made: SuggestionSet, counts: Mapping[str, int]) -> None:
    """Add to the counts of a set, in the caller's transaction. The number of forbidden units is replaced."""
    report = SuggestionSet.objects.values_list("report", flat=True).get(pk=made.pk)
    sums = {name: report.get(name, 0) + n for name, n in counts.items() if name != "forbidden"}
    only = {name: n for name, n in counts.items() if name == "forbidden"}
    SuggestionSet.objects.filter(pk=made.pk).update(report={**report, **sums, **only})


class _Reading:
    """Suggestions from the current machine readings of an import."""

    batch = READ

    def __init__(self, round: Round, request: SuggestionRequest) -> None:
        self.round, self.kind = round, kinds.get(round.kind)
        self.imported = Import.objects.get(pk=request.imported or 0)
        details = {"import": self.imported.pk, "sha256": self.imported.sha256, "format": self.imported.format}
        self.plan = SetPlan(
            request.kind, request.name, Source.READINGS, self.imported.file_name, details, request.options
        )

    def refuse(self, ids: Sequence[int]) -> set[int]:
        return set()

    def suggest(self, made: SuggestionSet, units: Mapping[int, Unit]) -> tuple[list[Suggestion], dict[str, int]]:
        """Return the suggestions of units with a reading. Readings that are not valid answers have a fault."""
        values = self.kind.read_values(list(units.values()), self.imported.pk)
        rows = []
        for pk, value in values.items():
            try:
                rows.append(suggestion(made, units[pk], checked_value(self.round, units[pk], value)))
            except Refused as refused:
                rows.append(suggestion(made, units[pk], fault=refused.detail))
        return rows, {"without_reading": len(units) - len(values)}

    def close(self) -> None:
        pass


class _Asking:
    """Suggestions of a chat model: a folder that this worker loads, or a model behind an endpoint."""

    batch = ASKED

    def __init__(self, project: Project, round: Round, request: SuggestionRequest, by: User | None) -> None:
        self.project, self.round, self.request, self.by = project, round, request, by
        with batches.batch():
            guideline = latest_guideline(project, request.kind, by=by)
        self.guideline = guideline.text
        self.endpoint = endpoint_of(project, request.endpoint) if request.endpoint else None
        try:
            self.model, details = self._endpoint() if self.endpoint else self._folder()
        except BackendError as error:
            raise Refused.field("model", str(error)) from error
        prompt = {
            "prompt": asking.PROMPT,
            "system": asking.SYSTEM,
            "form": FORMS[request.kind].explanation,
            "guideline": guideline.number,
            "guideline_sha256": guideline.digest,
            "instruction": request.instruction,
            "most_answers": asking.MOST_ANSWERS,
        }
        self.plan = SetPlan(request.kind, request.name, Source.CHAT, request.model, prompt | details, request.options)

    def _folder(self) -> tuple[Summariser, dict[str, Any]]:
        backend, request = ChatBackend(), self.request
        method = {"method": "sampling", "temperature": request.temperature} if request.temperature else {}
        chosen: dict[str, dict[str, Any]] = {
            "model": {"model": request.model},
            "prompt": {"system": asking.SYSTEM, "template": "{inputs}"},
            "decoding": {"max_new_tokens": request.max_tokens, **method},
        }
        config = asking.config_of(backend.sections, chosen) | {"seed": request.seed}
        facts = backend.facts(config)
        return backend.load(config, facts), {"backend": backend.key, "config": config, "facts": facts}

    def _endpoint(self) -> tuple[Summariser, dict[str, Any]]:
        assert self.endpoint
        request = self.request
        sections = {name: of for name, of in OpenAIBackend().sections.items() if name != "model"}
        decoding = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        prompt = {"system": asking.SYSTEM, "template": "{inputs}"}
        config = asking.config_of(sections, {"prompt": prompt, "decoding": decoding}) | {
            "model": {"endpoint": request.endpoint, "model": request.model, "concurrency": 4, "timeout": int(TIMEOUT)},
            "seed": request.seed,
        }
        client = Client(self.endpoint, settings.GENERATION_NETWORKS, Limits(total=TIMEOUT))
        details = {"backend": "openai", "client": CLIENT, "url": self.endpoint.url, "config": config}
        return EndpointSummariser(config, client), details

    def refuse(self, ids: Sequence[int]) -> set[int]:
        """Return the units whose texts may not leave the server, and log that the others do."""
        if not self.endpoint or not self.endpoint.is_outside:
            return set()
        states = redistribution_of(self.project.pk, ids)
        forbidden = {pk for pk, state in states.items() if state is False}
        if any(state is None for state in states.values()) and not self.request.reason.strip():
            raise Refused.field("reason", "The licence of some texts is unknown. Say why they may be sent.")
        with batches.batch():
            record(
                actor=self.by,
                verb="send texts to an endpoint",
                obj=self.project,
                project_id=self.project.pk,
                reason=self.request.reason,
                after={"host": self.endpoint.host, "units": len(ids) - len(forbidden), "suggestions": self.plan.name},
            )
        return forbidden

    def suggest(self, made: SuggestionSet, units: Mapping[int, Unit]) -> tuple[list[Suggestion], dict[str, int]]:
        request = self.request
        if self.endpoint and endpoint_of(self.project, request.endpoint) != self.endpoint:
            raise Refused.field("endpoint", "The endpoint was changed. Choose another name for the suggestions.")
        asked = asking.questions(
            self.round,
            list(units.values()),
            guideline=self.guideline,
            instruction=request.instruction,
            seed=request.seed,
        )
        try:
            results = list(asking.ask(self.model, self.round, asked))
        except BackendError as error:
            raise Refused.field("model", str(error)) from error
        except PassingError as error:
            raise Conflict(f"{error} Start the job again to continue.") from error
        rows = [suggestion(made, r.unit, r.value, fault=r.fault, attempts=r.attempts) for r in results]
        tokens = {"tokens_in": sum(r.tokens_in for r in results), "tokens_out": sum(r.tokens_out for r in results)}
        return rows, tokens

    def close(self) -> None:
        self.model.close()


def preview(project: Project, request: SuggestionRequest) -> dict[str, Any]:
    """Return how many units a request asks about, and which texts would leave the server."""
    endpoint = endpoint_of(project, request.endpoint) if request.endpoint else None
    if endpoint is None or not endpoint.is_outside:
        nothing = {"allowed": 0, "unknown": 0, "forbidden": 0}
        return {"units": len(chosen_units(project, request)), "host": "", **nothing}
    texts = outgoing(project, request)
    return {"units": sum(texts.values()), "host": endpoint.host, **texts}
