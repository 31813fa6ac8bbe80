"""Create a closed reliability study by three simulated annotators in the sample project."""

import logging
import secrets
import threading
import time
import uuid as uuids
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from operations.simulation.annotator import Annotator, Noise
from operations.simulation.client import Client, NotDone
from operations.simulation.labels import Truth, guess
from operations.simulation.transport import InProcess
from projects.jobs.queries import claim_next
from projects.jobs.running import run_job
from projects.models import JobStatus, Project, Role, Round
from projects.stored_figures.actions import bring_up_to_date
from projects.stored_figures.queries import KIND as STORED_FIGURES

#: Reason for releases despite failed checks.
SIMULATED = "Simulated history."
ENDED = {"done", "failed", "cancelled"}


class JobFailed(Exception):
    """A background job failed or was cancelled."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        super().__init__(f"Job {job['id']} ({job['kind']}) is {job['status']}: {job['error'] or job['result']}")
        self.job = job


@dataclass(frozen=True)
class Joined:
    """A person who accepted an invitation."""

    client: Client
    member: int
    pseudonym: str


@dataclass
class Study:
    """The actions of a lead in one project.

    ``pump`` is called while waiting for a job. It runs the job if there is no worker.
    """

    lead: Client
    slug: str
    pump: Callable[[], None] = lambda: None
    #: Seconds to wait for a job.
    patience: float = 120.0

    @classmethod
    def create(cls, lead: Client, name: str, **settings: Any) -> "Study":
        """Create a project with this lead."""
        made = lead.post("projects/", {"name": name, **settings})
        return cls(lead, made["slug"])

    def invite(self, email: str, role: str = "annotator") -> str:
        """Invite an address and return the token that its owner would get by mail."""
        made = self.lead.post(f"projects/{self.slug}/invitations/", {"email": email, "role": role})
        return str(made["token"])

    def join(self, client: Client, email: str, name: str, *, role: str = "annotator", token: bool = True) -> Joined:
        """Invite a person without an account, and accept the invitation with ``client``.

        The client is then signed in, with a personal API token if ``token`` is true, else by its session.
        """
        invitation = self.invite(email, role)
        try:
            client.get("session/")  # sets the CSRF cookie, as a page would
        except NotDone as refused:
            if refused.status != 401:
                raise
        password = secrets.token_urlsafe(18)
        client.post("invitations/look/", {"token": invitation})
        client.post("invitations/accept/", {"token": invitation, "name": name, "password": password})
        if token:
            client.token = client.post("me/tokens/", {"name": "robot", "scope": "lead"})["token"]
        me = next(member for member in all_pages(client, f"projects/{self.slug}/members/") if member["is_me"])
        return Joined(client, me["id"], me["pseudonym"])

    def import_file(self, name: str, content: bytes, *, format: str = "m3", level: str = "") -> dict[str, Any]:
        """Upload, check and confirm a file, and return the result. Raise `JobFailed` if the file has errors."""
        path = f"projects/{self.slug}/imports/"
        check = self.wait(self.lead.upload(path, {"format": format, "level": level}, name, content))
        if check["result"]["faults"]["total"]:
            raise JobFailed(check)
        result: dict[str, Any] = self.wait(self.lead.post(f"{path}confirm/", {"job": check["id"]}))["result"]
        return result

    def write_guideline(self, text: str, kind: str = "label") -> int:
        made = self.lead.post(f"projects/{self.slug}/guidelines/", {"kind": kind, "text": text})
        return int(made["id"])

    def open_round(self, name: str, people: Iterable[int], **plan: Any) -> int:
        """Open a label round for these members and return its id."""
        defaults = {"name": name, "kind": "label", "purpose": "gold", "overlap": 1, "people": list(people)}
        made = self.lead.post(f"projects/{self.slug}/rounds/", {**defaults, **plan})
        if made["job"] is not None:
            self.wait({"id": made["job"]})
        return int(made["id"])

    def close(self, round: int) -> dict[str, Any]:
        """Close a round, wait until its gold is aggregated and checkpointed, and return the job."""
        return self.wait(self.lead.post(f"rounds/{round}/close/"))

    def agreement(self, round: int) -> dict[str, Any]:
        """Return the agreement report of a round, once it is computed."""
        path = f"rounds/{round}/agreement/"
        report: dict[str, Any] = self.lead.get(path)
        if not report.get("current"):  # a large round needs a job
            self.wait(self.lead.post(path))
            report = self.lead.get(path)
        return report

    def adjudicate(self, round: int, reason: str, right: Callable[[Mapping[str, Any]], bool]) -> int:
        """Decide the waiting units of a closed round by the first correct answer. Return the number of units."""
        queue, decided = f"rounds/{round}/adjudication/", 0
        while rows := self.lead.get(queue)["rows"]:
            for row in rows:
                detail = self.lead.get(f"{queue}{row['unit']}/")
                answer = next(one["answer"] for one in detail["answers"] if right(one["card"]["value"]))
                decision = {"answer": answer, "seen": detail["seen"], "reason": reason}
                self.lead.post(f"{queue}{row['unit']}/", {"uuid": str(uuids.uuid4()), **decision})
                decided += 1
        return decided

    def search(self, query: str, topic: str) -> dict[str, Any]:
        """Search PubMed for reviews, wait until they are read, and return the search."""
        path = f"projects/{self.slug}/searches/"
        search = {"query": query, "topic": topic, "date_from": None, "date_to": None}
        return self._searched(self.lead.post(path, search))

    def read_studies(self) -> dict[str, Any]:
        """Fetch the records of studies that have only a PubMed id, and return the search."""
        return self._searched(self.lead.post(f"projects/{self.slug}/searches/studies/", {"review": ""}))

    def make_documents(self) -> dict[str, Any]:
        """Create the document level and return the job's result."""
        result: dict[str, Any] = self.wait(self.lead.post(f"projects/{self.slug}/documents/"))["result"]
        return result

    def _searched(self, made: Mapping[str, Any]) -> dict[str, Any]:
        self.wait(made["job"])
        found: dict[str, Any] = self.lead.get(f"searches/{made['id']}/")
        return found

    def release(self, version: str) -> int:
        """Create a release and return its id."""
        job = self.wait(self.lead.post(f"projects/{self.slug}/releases/", {"version": version, "reason": SIMULATED}))
        return int(job["result"]["release"])

    def release_file(self, release: int, path: str) -> bytes:
        return self.lead.download(f"releases/{release}/files/{path}")

    def wait(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Wait for a job and return it. Raise `JobFailed`, or TimeoutError after the study's patience."""
        until = time.monotonic() + self.patience
        while True:
            self.pump()
            now: dict[str, Any] = self.lead.get(f"jobs/{job['id']}/")
            if now["status"] == "done":
                return now
            if now["status"] in ENDED:
                raise JobFailed(now)
            if time.monotonic() > until:
                raise TimeoutError(f"Job {now['id']} ({now['kind']}) is still {now['status']}; is a worker running?")
            time.sleep(0.05)


def all_pages(client: Client, path: str) -> list[dict[str, Any]]:
    """Return all rows of a paginated list."""
    rows: list[dict[str, Any]] = []
    page = 1
    while True:
        reply = client.get(f"{path}?page={page}")
        rows += reply["results"]
        if len(rows) >= reply["count"] or not reply["results"]:
            return rows
        page += 1


def work_together(annotators: Sequence[Annotator], *, keep_going: Callable[[], bool] = lambda: True) -> list[int]:
    """Run annotators concurrently, each in a thread, and return their numbers of answers.

    If one fails, the others stop and its error is raised.
    """
    stop = threading.Event()

    def run(annotator: Annotator) -> int:
        try:
            return annotator.work(keep_going=lambda: not stop.is_set() and keep_going())
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(len(annotators)) as pool:
        return [future.result() for future in [pool.submit(run, annotator) for annotator in annotators]]


ROUND, FORMER_ROUND = "Reliability study (simulated)", "Reliability study (robots)"
UNITS = 12
#: (address, name, error probability). The names show that they are simulated.
ANNOTATORS = (
    ("simulated1@example.org", "Simulated One", 0.05),
    ("simulated2@example.org", "Simulated Two", 0.12),
    ("simulated3@example.org", "Simulated Three", 0.25),
)


def play_history(project: Project, *, truth: Truth = guess, units: int = UNITS) -> bool:
    """Invite three simulated annotators and let them label a sample for a reliability study.

    Return False if the study exists. Requests go to the API within this process, so no server is needed. Gold is not
    changed.
    """
    if Round.objects.filter(project=project, name__in=(ROUND, FORMER_ROUND)).exists():
        return False
    lead = project.members.active().filter(role=Role.LEAD).select_related("user").order_by("pk").first()
    if lead is None:
        return False
    with quiet():
        _play(Study(Client(InProcess(lead.user)), project.slug, pump=do_waiting_jobs), project, truth, units)
    return True


def _play(study: Study, project: Project, truth: Truth, units: int) -> None:
    people = []
    for email, name, _ in ANNOTATORS:
        member = project.members.active().filter(user__email=email).select_related("user").first()
        if member:  # from an interrupted call
            people.append((member.pk, Client(InProcess(member.user))))
        else:
            joined = study.join(Client(InProcess()), email, name, token=False)
            people.append((joined.member, joined.client))
    round = study.open_round(
        ROUND,
        [member for member, _ in people],
        purpose="measure only",
        overlap=len(ANNOTATORS),
        sample=units,
        seed=7,
        allocation="dealt",
    )
    for seed, ((_, client), (_, _, share)) in enumerate(zip(people, ANNOTATORS, strict=True), start=1):
        Annotator(client, round, truth=truth, noise=Noise.of(share), seed=seed).work()
    study.close(round)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress log messages, because the sign-ins of simulated annotators would flood the terminal."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        yield
    finally:
        logging.disable(before)


def do_waiting_jobs() -> None:
    """Run the waiting jobs in this process, and compute outdated figures without waiting for further changes."""
    while (pk := claim_next()) is not None:
        run_job(pk)
    for project in Project.objects.filter(jobs__kind=STORED_FIGURES, jobs__status=JobStatus.QUEUED).distinct():
        bring_up_to_date(project)
