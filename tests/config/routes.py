"""The routes of the API, and for each route with parameters an object of the other project."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from accounts.models import User
from tests.config.other_project import OtherProject

API = "api/v1/"
METHODS = ("get", "head", "options", "post", "put", "patch", "delete")
#: Routes and methods that need no sign-in.
OPEN = {
    "schema/": {"get"},
    "session/": {"post"},
    "session/link/": {"post"},
    "invitations/look/": {"post"},
    "invitations/accept/": {"post"},
    "take/look/": {"post"},
    "take/accept/": {"post"},
}
ABSENT = 999_999_999

Ids = dict[str, Any]


def no_ids(other: OtherProject) -> Ids:
    return {}


#: Route below /api/v1/ -> ids of an object of the other project.
CASES: dict[str, Callable[[OtherProject], Ids]] = {
    "me/tokens/<int:token_id>/": lambda w: {"token_id": w.token.pk},
    "projects/<slug:slug>/": lambda w: {},
    "projects/<slug:slug>/members/": lambda w: {},
    "projects/<slug:slug>/members/<int:member_id>/": lambda w: {"member_id": w.worker.pk},
    "projects/<slug:slug>/invitations/": lambda w: {},
    "projects/<slug:slug>/invitations/<int:invitation_id>/": lambda w: {"invitation_id": w.invitation.pk},
    "projects/<slug:slug>/invitations/<int:invitation_id>/link/": lambda w: {"invitation_id": w.invitation.pk},
    "projects/<slug:slug>/guidelines/": lambda w: {},
    "projects/<slug:slug>/guidelines/<int:guideline_id>/": lambda w: {"guideline_id": w.round.guideline_id},
    "projects/<slug:slug>/guidelines/<int:guideline_id>/change/": lambda w: {"guideline_id": w.round.guideline_id},
    "projects/<slug:slug>/guidelines/<int:guideline_id>/correction/": lambda w: {"guideline_id": w.round.guideline_id},
    "projects/<slug:slug>/guideline-changes/planned/": lambda w: {},
    "projects/<slug:slug>/audit/": lambda w: {},
    "rounds/<int:round_id>/next/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/recent/": lambda w: {"round_id": w.round.pk},
    "answers/<uuid:answer_uuid>/": lambda w: {"answer_uuid": w.answer.pk},
    "projects/<slug:slug>/rounds/": lambda w: {},
    "projects/<slug:slug>/rounds/totals/": lambda w: {},
    "projects/<slug:slug>/rounds/choices/": lambda w: {},
    "projects/<slug:slug>/rounds/preview/": lambda w: {},
    "projects/<slug:slug>/suggestions/": lambda w: {},
    "projects/<slug:slug>/suggestions/files/": lambda w: {},
    "projects/<slug:slug>/suggestions/models/": lambda w: {},
    "projects/<slug:slug>/suggestions/outgoing/": lambda w: {},
    "projects/<slug:slug>/materials/": lambda w: {},
    "projects/<slug:slug>/materials/<slug:key>/": lambda w: {"key": "reviews"},
    "projects/<slug:slug>/search/": lambda w: {},
    "projects/<slug:slug>/overview/": lambda w: {},
    "projects/<slug:slug>/way/": lambda w: {},
    "projects/<slug:slug>/consistency/": lambda w: {},
    "projects/<slug:slug>/findings/": lambda w: {},
    "projects/<slug:slug>/findings/dismissals/": lambda w: {},
    "projects/<slug:slug>/documents/": lambda w: {},
    "projects/<slug:slug>/evidence/": lambda w: {},
    "projects/<slug:slug>/reliability/": lambda w: {},
    "findings/<int:finding_id>/": lambda w: {"finding_id": w.finding.pk},
    "projects/<slug:slug>/inbox/": lambda w: {},
    "projects/<slug:slug>/inbox/totals/": lambda w: {},
    "answers/<uuid:answer_uuid>/remarks/": lambda w: {"answer_uuid": w.answer.pk},
    "rounds/<int:round_id>/replies/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/progress/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/close/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/gate/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/as-pilot/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/intake/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/preparation/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/people/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/people/<int:member_id>/": lambda w: {"round_id": w.round.pk, "member_id": w.worker.pk},
    "rounds/<int:round_id>/participant-links/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/participant-links/<int:link_id>/": lambda w: {"round_id": w.round.pk, "link_id": w.link.pk},
    "rounds/<int:round_id>/recruitments/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/recruitments/<int:link_id>/people/": lambda w: w.recruit_ids(),
    "rounds/<int:round_id>/recruitments/<int:link_id>/people/file/": lambda w: w.recruit_ids(),
    "rounds/<int:round_id>/recruitments/<int:link_id>/people/<int:recruit_id>/external-ids/": lambda w: (
        w.recruit_ids() | {"recruit_id": w.recruit.pk}
    ),
    "rounds/<int:round_id>/consent-text/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/accuracy/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/accuracy/<int:member_id>/practice/": lambda w: {
        "round_id": w.round.pk,
        "member_id": w.round.participants.all()[0].member_id,
    },
    "rounds/<int:round_id>/practice/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/practice/people/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/questions/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/admissions/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/agreement/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/adjudication/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/adjudication/at-once/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/adjudication/gold/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/adjudication/undo/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/adjudication/<int:unit_id>/": lambda w: {
        "round_id": w.round.pk,
        "unit_id": w.answer.assignment.unit_id,
    },
    "rounds/<int:round_id>/adjudication/<int:unit_id>/reopen/": lambda w: {
        "round_id": w.round.pk,
        "unit_id": w.answer.assignment.unit_id,
    },
    "rounds/<int:round_id>/outcomes/": lambda w: {"round_id": w.round.pk},
    "projects/<slug:slug>/elsewhere/check/": lambda w: {},
    "projects/<slug:slug>/elsewhere/import/": lambda w: {},
    "rounds/<int:round_id>/sheet/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/sheet/check/": lambda w: {"round_id": w.round.pk},
    "rounds/<int:round_id>/sheet/import/": lambda w: {"round_id": w.round.pk},
    "units/<int:unit_id>/cards/<slug:kind>/": lambda w: {"unit_id": w.answer.assignment.unit_id, "kind": "label"},
    "units/<int:unit_id>/corrections/": lambda w: {"unit_id": w.answer.assignment.unit_id},
    "units/<int:unit_id>/confirmations/": lambda w: {"unit_id": w.answer.assignment.unit_id},
    "rounds/<int:round_id>/upheld-answers/": lambda w: {"round_id": w.round.pk},
    "units/<int:unit_id>/origin/": lambda w: {"unit_id": w.answer.assignment.unit_id},
    "units/<int:unit_id>/origin/releases/": lambda w: {"unit_id": w.answer.assignment.unit_id},
    "units/<int:unit_id>/place/": lambda w: {"unit_id": w.answer.assignment.unit_id},
    "units/<int:unit_id>/text/": lambda w: {"unit_id": w.answer.assignment.unit_id},
    "projects/<slug:slug>/stale/": lambda w: {},
    "projects/<slug:slug>/stale/totals/": lambda w: {},
    "projects/<slug:slug>/outdated-answers/": lambda w: {},
    "jobs/<int:job_id>/": lambda w: {"job_id": w.job.pk},
    "jobs/<int:job_id>/cancel/": lambda w: {"job_id": w.job.pk},
    "jobs/<int:job_id>/dismissal/": lambda w: {"job_id": w.job.pk},
    "projects/<slug:slug>/imports/": lambda w: {},
    "projects/<slug:slug>/imports/confirm/": lambda w: {},
    "projects/<slug:slug>/imports/folder/": lambda w: {},
    "projects/<slug:slug>/imports/columns/": lambda w: {},
    "projects/<slug:slug>/imports/columns/check/": lambda w: {},
    "projects/<slug:slug>/mappings/": lambda w: {},
    "projects/<slug:slug>/mappings/<int:mapping_id>/": lambda w: {"mapping_id": w.mapping.pk},
    "imports/<int:import_id>/": lambda w: {"import_id": w.imported.pk},
    "imports/<int:import_id>/notices/": lambda w: {"import_id": w.imported.pk},
    "imports/<int:import_id>/continue/": lambda w: {"import_id": w.imported.pk},
    "imports/<int:import_id>/withdraw/": lambda w: {"import_id": w.imported.pk},
    "projects/<slug:slug>/searches/": lambda w: {},
    "projects/<slug:slug>/searches/studies/": lambda w: {},
    "projects/<slug:slug>/searches/flow/": lambda w: {},
    "projects/<slug:slug>/searches/full-texts/": lambda w: {},
    "projects/<slug:slug>/searches/table/": lambda w: {},
    "searches/<int:search_id>/": lambda w: {"search_id": w.search.pk},
    "projects/<slug:slug>/clusters/": lambda w: {},
    "projects/<slug:slug>/clusters/states/": lambda w: {},
    "clusters/<int:cluster_id>/": lambda w: {"cluster_id": w.cluster.pk},
    "clusters/<int:cluster_id>/neighbours/": lambda w: {"cluster_id": w.cluster.pk},
    "projects/<slug:slug>/reviews/": lambda w: {},
    "reviews/<int:review_id>/": lambda w: {"review_id": w.cluster.review_id},
    "reviews/<int:review_id>/curation/": lambda w: {"review_id": w.cluster.review_id},
    "reviews/<int:review_id>/corrections/": lambda w: {"review_id": w.cluster.review_id},
    "reviews/<int:review_id>/clusters/": lambda w: {"review_id": w.cluster.review_id},
    "reviews/<int:review_id>/sentences/": lambda w: {"review_id": w.cluster.review_id},
    "clusters/<int:cluster_id>/propositions/": lambda w: {"cluster_id": w.cluster.pk},
    "clusters/<int:cluster_id>/removal/": lambda w: {"cluster_id": w.cluster.pk},
    "units/<int:unit_id>/removal/": lambda w: {"unit_id": w.answer.assignment.unit_id},
    "studies/<int:study_id>/": lambda w: {"study_id": w.study.pk},
    "studies/<int:study_id>/readings/": lambda w: {"study_id": w.study.pk},
    "reviews/<int:review_id>/readings/": lambda w: {"review_id": w.cluster.review_id},
    "effect-pairs/<int:pair_id>/readings/": lambda w: {"pair_id": w.pair.pk},
    "projects/<slug:slug>/summary/": lambda w: {},
    "projects/<slug:slug>/statistics/": lambda w: {},
    "projects/<slug:slug>/writers/": lambda w: {},
    "projects/<slug:slug>/backends/": lambda w: {},
    "projects/<slug:slug>/endpoints/": lambda w: {},
    "endpoints/<int:endpoint_id>/": lambda w: {"endpoint_id": w.endpoint.pk},
    "projects/<slug:slug>/judges/": lambda w: {},
    "projects/<slug:slug>/judges/choices/": lambda w: {},
    "projects/<slug:slug>/judge-runs/": lambda w: {},
    "judges/<int:judge_id>/": lambda w: {"judge_id": w.judge_run.judge_id},
    "judges/<int:judge_id>/rounds/<int:round_id>/preview/": lambda w: {
        "judge_id": w.judge_run.judge_id,
        "round_id": w.rated.pk,
    },
    "judges/<int:judge_id>/rounds/<int:round_id>/estimate/": lambda w: {
        "judge_id": w.judge_run.judge_id,
        "round_id": w.rated.pk,
    },
    "rounds/<int:round_id>/judge-sets/": lambda w: {"round_id": w.rated.pk},
    "rounds/<int:round_id>/judge-runs/": lambda w: {"round_id": w.rated.pk},
    "judge-runs/<int:run_id>/": lambda w: {"run_id": w.judge_run.pk},
    "judge-runs/<int:run_id>/stop/": lambda w: {"run_id": w.judge_run.pk},
    "judge-runs/<int:run_id>/resume/": lambda w: {"run_id": w.judge_run.pk},
    "judge-runs/<int:run_id>/failures/": lambda w: {"run_id": w.judge_run.pk},
    "projects/<slug:slug>/systems/": lambda w: {},
    "systems/<int:system_id>/": lambda w: {"system_id": w.run.version.system_id},
    "systems/<int:system_id>/versions/": lambda w: {"system_id": w.run.version.system_id},
    "versions/<int:version_id>/": lambda w: {"version_id": w.run.version_id},
    "versions/<int:version_id>/runs/": lambda w: {"version_id": w.run.version_id},
    "runs/<int:run_id>/": lambda w: {"run_id": w.run.pk},
    "runs/<int:run_id>/stop/": lambda w: {"run_id": w.run.pk},
    "runs/<int:run_id>/resume/": lambda w: {"run_id": w.run.pk},
    "runs/<int:run_id>/retry/": lambda w: {"run_id": w.run.pk},
    "runs/<int:run_id>/items/": lambda w: {"run_id": w.run.pk},
    "runs/<int:run_id>/summaries/": lambda w: {"run_id": w.run.pk},
    "projects/<slug:slug>/readings/": lambda w: {},
    "projects/<slug:slug>/readings/check/": lambda w: {},
    "projects/<slug:slug>/readings/withdraw/": lambda w: {},
    "runs/<int:run_id>/scores/": lambda w: {"run_id": w.run.pk},
    "projects/<slug:slug>/results/": lambda w: {},
    "projects/<slug:slug>/results/<slug:table>/<slug:form>/": lambda w: {"table": "m3-4", "form": "csv"},
    "runs/<int:run_id>/embargoes/": lambda w: {"run_id": w.run.pk},
    "embargoes/<int:embargo_id>/lift/": lambda w: {"embargo_id": w.embargo.pk},
    "projects/<slug:slug>/outputs/": lambda w: {},
    "projects/<slug:slug>/outputs/files/": lambda w: {},
    "projects/<slug:slug>/outputs/imports/": lambda w: {},
    "projects/<slug:slug>/rating-design/": lambda w: {},
    "rounds/<int:round_id>/rating-design/": lambda w: {"round_id": w.rated.pk},
    "rounds/<int:round_id>/unblind/": lambda w: {"round_id": w.rated.pk},
    "projects/<slug:slug>/ratings/": lambda w: {},
    "rounds/<int:round_id>/ratings/": lambda w: {"round_id": w.rated.pk},
    "rounds/<int:round_id>/ratings/examples/": lambda w: {"round_id": w.rated.pk},
    "rounds/<int:round_id>/ratings/file/": lambda w: {"round_id": w.rated.pk},
    "rounds/<int:round_id>/judge-figures/": lambda w: {"round_id": w.rated.pk},
    "projects/<slug:slug>/protocols/": lambda w: {},
    "projects/<slug:slug>/protocols/templates/": lambda w: {},
    "projects/<slug:slug>/protocols/check/": lambda w: {},
    "protocols/<int:protocol_id>/": lambda w: {"protocol_id": w.protocol.protocol_id},
    "protocols/<int:protocol_id>/versions/": lambda w: {"protocol_id": w.protocol.protocol_id},
    "protocol-versions/<int:version_id>/": lambda w: {"version_id": w.protocol.pk},
    "protocol-versions/<int:version_id>/file/": lambda w: {"version_id": w.protocol.pk},
    "projects/<slug:slug>/citation/": lambda w: {},
    "projects/<slug:slug>/splits/": lambda w: {},
    "projects/<slug:slug>/splits/files/": lambda w: {},
    "projects/<slug:slug>/trainings/": lambda w: {},
    "projects/<slug:slug>/trainings/choices/": lambda w: {},
    "trainings/<int:training_id>/": lambda w: {"training_id": w.training.pk},
    "trainings/<int:training_id>/resume/": lambda w: {"training_id": w.training.pk},
    "trainings/<int:training_id>/checkpoints/": lambda w: {"training_id": w.training.pk},
    "trainings/<int:training_id>/version/": lambda w: {"training_id": w.training.pk},
    "splits/<int:split_id>/": lambda w: {"split_id": w.split.pk},
    "splits/<int:split_id>/table/": lambda w: {"split_id": w.split.pk},
    "projects/<slug:slug>/methods/": lambda w: {},
    "projects/<slug:slug>/releases/": lambda w: {},
    "projects/<slug:slug>/releases/pending/": lambda w: {},
    "projects/<slug:slug>/releases/checks/": lambda w: {},
    "releases/<int:release_id>/": lambda w: {"release_id": w.release.pk},
    "releases/<int:release_id>/row/": lambda w: {"release_id": w.release.pk},
    "releases/<int:release_id>/verify/": lambda w: {"release_id": w.release.pk},
    "releases/<int:release_id>/difference/": lambda w: {"release_id": w.release.pk},
    "releases/<int:release_id>/archive/": lambda w: {"release_id": w.release.pk},
    "releases/<int:release_id>/files/<path:path>": lambda w: {"release_id": w.release.pk, "path": "manifest.json"},
}


@dataclass(frozen=True)
class Route:
    """A route of the API and the methods of its view."""

    pattern: str
    methods: frozenset[str]

    @property
    def has_parameter(self) -> bool:
        return "<" in self.pattern

    def address(self, ids: Ids) -> str:
        out = self.pattern
        for name, value in ids.items():
            for kind in ("int", "slug", "uuid", "path"):
                out = out.replace(f"<{kind}:{name}>", str(value))
        assert "<" not in out, f"{self.pattern}: its case lacks an id"
        return f"/{API}{out}"


def walk(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        pattern = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk(entry, pattern)
        else:
            yield pattern, entry


def api_routes(resolver: URLResolver | None = None) -> list[Route]:
    found = []
    for pattern, entry in walk(resolver or get_resolver()):
        if pattern.startswith(API):
            view: Any = getattr(entry.callback, "view_class", None) or getattr(entry.callback, "cls", None)
            found.append(Route(pattern[len(API) :], frozenset(m for m in METHODS if hasattr(view, m))))
    return found


def without_case(routes: list[Route]) -> list[str]:
    return [route.pattern for route in routes if route.has_parameter and route.pattern not in CASES]


def client_of(user: User | None) -> APIClient:
    client = APIClient(raise_request_exception=True)
    if user:
        client.force_login(user)
    return client


def ask(client: APIClient, method: str, address: str, other: OtherProject) -> Any:
    """Send a request with a valid body, so that only missing rights can be the reason for a refusal."""
    if method in ("get", "head", "options"):
        return getattr(client, method)(address)
    body: dict[str, Any] = {"member": other.worker.pk, "job": other.job.pk}
    if "/answers/" in address:
        body = other.submission()
    return getattr(client, method)(address, body, format="json")
