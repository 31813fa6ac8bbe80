"""Import, release and show documents for `benchmarks.scale`. The functions run in a process with Concord set up."""

import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.inside_moving import peak_mb
from benchmarks.inside_parquet import write_parquet
from benchmarks.inside_requests import measured

SLUG = "scale"
#: Requests of Overview, Corpus, search and Results, below `/api/v1/projects/scale/`. `{pmid}` is that of a review.
OF_LEAD = (
    "",
    "overview/",
    "way/",
    "materials/",
    "stale/totals/",
    "rounds/",
    "imports/",
    "summary/",
    "statistics/",
    "documents/",
    "materials/reviews/",
    "materials/reviews/?page={last}",
    "materials/reviews/?search={pmid}",
    "materials/reviews/?state=no_studies",
    "materials/studies/",
    "materials/studies/?page={last}",
    "materials/studies/?search={pmid}",
    "materials/studies/?state=no_abstract",
    "materials/documents/",
    "materials/documents/?search={pmid}",
    "search/?search={pmid}",
    "results/",
    "ratings/",
    "inbox/",
    "releases/checks/",
)


def import_set(form: str, paths: list[str]) -> dict[str, Any]:
    """Import a corpus by command, and return the CPU and wall-clock time, the peak memory and the number of rows."""
    from io import StringIO

    from django.core.management import call_command

    from projects.models import Import, Project

    Project.objects.create(slug=SLUG, name="Scale")
    begun, cpu = time.perf_counter(), time.process_time()
    call_command("import_data", form, *paths, project=SLUG, stdout=StringIO(), stderr=StringIO())
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    rows = Import.objects.get().progress["rows"]
    return {"cpu": cpu, "wall": wall, "peak_mb": peak_mb(), "rows": rows}


def release_set(out: str) -> dict[str, Any]:
    """Write a release of the project, and return the CPU time and the peak memory.

    The digests of new rows are stored before, as the worker does regularly (``checkpoint``: CPU time). The Parquet
    files are written last, and their CPU time is not part of ``cpu``.
    """
    from audit.actions import create_checkpoints
    from projects.models import Project
    from releases.publishing.actions import write_release
    from releases.sources.options import ReleaseOptions

    cpu = time.process_time()
    create_checkpoints()
    checkpoint = time.process_time() - cpu
    begun, cpu = time.perf_counter(), time.process_time()
    options = ReleaseOptions(without=["parquet"])
    write_release(project=Project.objects.get(slug=SLUG), version="1.0.0", out=Path(out), options=options)
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - begun}
    return spent | write_parquet(out) | {"checkpoint": checkpoint, "peak_mb": peak_mb()}


def figures_set() -> dict[str, Any]:
    """Run the waiting jobs, which compute the stored figures."""
    from projects.jobs.queries import claim_next
    from projects.jobs.running import run_job
    from projects.models import Job

    Job.objects.update(not_before=None)
    begun, cpu, jobs = time.perf_counter(), time.process_time(), 0
    while (job := claim_next()) is not None:
        jobs += run_job(job)
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - begun}
    return spent | {"jobs": jobs, "peak_mb": peak_mb()}


def ask_pages() -> list[dict[str, Any]]:
    """Send the requests of `OF_LEAD`, `next` of a round over all reviews, and answers."""
    from annotation.models import Review
    from projects.models import Project
    from projects.rounds.actions import open_round
    from projects.rounds.planning import RoundPlan

    project = Project.objects.get(slug=SLUG)
    (lead, _), (annotator, member) = _signed_in(project, "lead"), _signed_in(project, "annotator")
    plan = RoundPlan(name="screening", kind="screen", purpose="gold", overlap=1, people=[member])
    round = open_round(project=project, plan=plan, by=None)
    figures_set()
    pmid = Review.objects.filter(project=project).order_by("pk")[Review.objects.count() // 2].pmid
    found = []
    for name in OF_LEAD:
        path = f"/api/v1/projects/{SLUG}/{name.replace('{pmid}', pmid)}"
        if "{last}" in path:
            count = lead.get(path.partition("?")[0]).json()["count"]
            path = path.replace("{last}", str(max(1, -(-count // 50))))
        found.append(measured(lambda path=path: lead.get(path), name or "project"))  # type: ignore[misc]
    address = f"/api/v1/rounds/{round.pk}/next/"
    found.append(measured(lambda: annotator.get(address), "next"))
    return [*found, measured(_answers(annotator, address), "answer")]


def _signed_in(project: Any, role: str) -> tuple[Any, int]:
    """Create a member, and return a client and the id of the member."""
    from django.test import Client

    from accounts.models import User
    from projects.kinds.registry import all_kinds
    from projects.models import Member

    seen = {"introduced": sorted(kind.key for kind in all_kinds())}
    user = User.objects.create_user(email=f"{role}@example.org", name=role, preferences=seen)
    member = Member.objects.create(project=project, user=user, role=role, pseudonym=role)
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    client.force_login(user, backend="accounts.sessions.Backend")
    client.get("/api/v1/me/")
    return client, member.pk


def _answers(client: Any, address: str) -> Callable[[], Any]:
    """Return a function that answers the next assignment."""
    found = client.get(address).json()
    held, cards = found["held"], {card["assignment"]: card for card in found["fetched"]}

    def send() -> Any:
        card = cards.pop(held.pop(0))
        body = {
            "assignment": card["assignment"],
            "revision": card["revision"],
            "kind": "screen",
            "outcome": "answered",
            "reason": "",
            "shown": card["shown"],
            "active_ms": 4200,
            "comment": "",
            "flag": False,
            "value": {"screening": "include"},
            "have": list(cards),
        }
        reply = client.put(f"/api/v1/answers/{uuid.uuid4()}/", json.dumps(body), content_type="application/json")
        following = reply.json()
        held[:] = following["held"]
        cards.update((card["assignment"], card) for card in following["fetched"])
        return reply

    return send
