"""A whole study through the API: invite, accept, import, guideline, round, label, close, agreement, release."""

import secrets
import threading
import time
import uuid as uuids
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .annotator import Annotator
from .client import Client, NotDone

ENDED = {"done", "failed", "cancelled"}


class JobFailed(Exception):
    """A background job did not end well."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        super().__init__(f"Job {job['id']} ({job['kind']}) is {job['status']}: {job['error'] or job['result']}")
        self.job = job


@dataclass(frozen=True)
class Joined:
    """Somebody who accepted an invitation."""

    client: Client
    member: int
    pseudonym: str


@dataclass
class Study:
    """What a lead does with one project. ``pump`` is called while a job is waited for: it does the job where no
    worker runs."""

    lead: Client
    slug: str
    pump: Callable[[], None] = lambda: None
    #: Seconds to wait for a job.
    patience: float = 120.0

    @classmethod
    def found(cls, lead: Client, name: str, **settings: Any) -> "Study":
        """A new project, led by the lead."""
        made = lead.post("projects/", {"name": name, **settings})
        return cls(lead, made["slug"])

    def invite(self, email: str, role: str = "annotator") -> str:
        """Invite an address; the token that its owner would get by mail."""
        made = self.lead.post(f"projects/{self.slug}/invitations/", {"email": email, "role": role})
        return str(made["token"])

    def join(self, client: Client, email: str, name: str, *, role: str = "annotator", token: bool = True) -> Joined:
        """Invite somebody who has no account yet, and accept as that person with ``client``, which is then signed in:
        with ``token`` by a personal API token, else by its session."""
        invitation = self.invite(email, role)
        try:
            client.get("session/")  # for the CSRF cookie, as a page would
        except NotDone as refused:
            if refused.status != 401:
                raise
        password = secrets.token_urlsafe(18)
        client.post("invitations/look/", {"token": invitation})
        client.post("invitations/accept/", {"token": invitation, "name": name, "password": password})
        if token:
            client.token = client.post("me/tokens/", {"name": "robot"})["token"]
        me = next(member for member in all_pages(client, f"projects/{self.slug}/members/") if member["is_me"])
        return Joined(client, me["id"], me["pseudonym"])

    def import_file(self, name: str, content: bytes, *, format: str = "m3", level: str = "") -> dict[str, Any]:
        """Upload, check, confirm; the result of the import. Raises `JobFailed` where the file has faults."""
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
        """Open a round of labelling for these members; its id."""
        defaults = {"name": name, "kind": "label", "purpose": "gold", "overlap": 1, "people": list(people)}
        made = self.lead.post(f"projects/{self.slug}/rounds/", {**defaults, **plan})
        if made["job"] is not None:
            self.wait({"id": made["job"]})
        return int(made["id"])

    def close(self, round: int) -> dict[str, Any]:
        """Close a round and wait until its gold is formed and sealed; the job."""
        return self.wait(self.lead.post(f"rounds/{round}/close/"))

    def agreement(self, round: int) -> dict[str, Any]:
        """The report of a round, once it has been measured."""
        path = f"rounds/{round}/agreement/"
        report: dict[str, Any] = self.lead.get(path)
        if not report.get("current"):  # a large round
            self.wait(self.lead.post(path))
            report = self.lead.get(path)
        return report

    def adjudicate(self, round: int, reason: str, right: Callable[[Mapping[str, Any]], bool]) -> int:
        """Decide whatever waits in a closed round by the first answer whose value is right; how many units."""
        queue, decided = f"rounds/{round}/adjudication/", 0
        while rows := self.lead.get(queue)["rows"]:
            for row in rows:
                dossier = self.lead.get(f"{queue}{row['unit']}/")
                taken = next(one["answer"] for one in dossier["answers"] if right(one["card"]["value"]))
                said = {"answer": taken, "seen": dossier["seen"], "reason": reason}
                self.lead.post(f"{queue}{row['unit']}/", {"uuid": str(uuids.uuid4()), **said})
                decided += 1
        return decided

    def search(self, query: str, topic: str) -> dict[str, Any]:
        """Search PubMed for reviews, and wait until they are read; the search."""
        path = f"projects/{self.slug}/searches/"
        asked = {"query": query, "topic": topic, "date_from": None, "date_to": None}
        return self._searched(self.lead.post(path, asked))

    def read_studies(self) -> dict[str, Any]:
        """Read the records of studies that are known by their PubMed ids alone; the search."""
        return self._searched(self.lead.post(f"projects/{self.slug}/searches/studies/", {"review": ""}))

    def make_documents(self) -> dict[str, Any]:
        """Make the document level; what it came to."""
        result: dict[str, Any] = self.wait(self.lead.post(f"projects/{self.slug}/documents/"))["result"]
        return result

    def _searched(self, made: Mapping[str, Any]) -> dict[str, Any]:
        self.wait(made["job"])
        found: dict[str, Any] = self.lead.get(f"searches/{made['id']}/")
        return found

    def release(self, version: str) -> int:
        """Freeze a release; its id."""
        job = self.wait(self.lead.post(f"projects/{self.slug}/releases/", {"version": version}))
        return int(job["result"]["release"])

    def release_file(self, release: int, path: str) -> bytes:
        return self.lead.download(f"releases/{release}/files/{path}")

    def wait(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The job once it has ended. Raises `JobFailed`, and TimeoutError after the study's patience."""
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
    """Every row of a list."""
    rows: list[dict[str, Any]] = []
    page = 1
    while True:
        reply = client.get(f"{path}?page={page}")
        rows += reply["results"]
        if len(rows) >= reply["count"] or not reply["results"]:
            return rows
        page += 1


def work_together(annotators: Sequence[Annotator], *, go_on: Callable[[], bool] = lambda: True) -> list[int]:
    """Let annotators work at the same time, each in a thread of its own; how many answers each gave. When one fails
    the others stop, and its error is raised."""
    stop = threading.Event()

    def run(annotator: Annotator) -> int:
        try:
            return annotator.work(go_on=lambda: not stop.is_set() and go_on())
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(len(annotators)) as pool:
        return [future.result() for future in [pool.submit(run, annotator) for annotator in annotators]]
