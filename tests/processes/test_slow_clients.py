"""Hostile clients (slow, silent, wrong lengths, leaving) beside people at work, behind the proxy (row 47).

A thread of the web server waits for its client, so Caddy is in front as in docker-compose.yml. Without Caddy these
tests are skipped. `make soak` sets SLOW=60 and compares rates, which is unreliable in a few seconds.
"""

import http.client
import json
import os
import random
import socket
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from operations.simulation.annotator import Annotator
from operations.simulation.client import Ledger
from operations.simulation.history import work_together
from tests.processes.hostile_clients import HostileClients, behaviours, steadily
from tests.processes.site import Site, until
from tests.processes.test_kills import check_against, corpus, say, staffed
from tests.stages.servers import Missing

pytestmark = [pytest.mark.processes, pytest.mark.row(47)]
SECONDS = float(os.environ.get("SLOW", "5"))
ROBOTS = 8 if SECONDS >= 30 else 3
PASSWORD = "correct horse battery staple"


def serve(site: Site, **options: Any) -> None:
    """Start the web server behind the proxy; skip the test without Caddy."""
    try:
        site.start_web_behind_proxy(**options)
    except Missing as missing:
        pytest.skip(str(missing))


class People:
    """Annotators at work, and the duration of each request."""

    def __init__(self, annotators: list[Annotator]) -> None:
        self.annotators, self.times, self.failures = annotators, list[tuple[float, float]](), list[BaseException]()
        for annotator in annotators:
            annotator.client.submit = self.timed(annotator.client.submit)  # type: ignore[method-assign]

    def timed(self, submit: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.monotonic()
            reply = submit(*args, **kwargs)
            self.times.append((began, time.monotonic() - began))
            return reply

        return timed

    @contextmanager
    def at_work(self) -> Iterator[None]:
        finished = threading.Event()

        def work() -> None:
            try:
                work_together(self.annotators, keep_going=lambda: not finished.is_set())
            except BaseException as error:
                self.failures.append(error)

        team = threading.Thread(target=work)
        team.start()
        try:
            yield
        finally:
            finished.set()
            team.join(120)
            assert not self.failures, self.failures

    def between(self, began: float, ended: float) -> tuple[float, float]:
        """Return answers per second, and the 95th percentile of the durations."""
        took = sorted(seconds for at, seconds in self.times if began <= at < ended)
        return len(took) / (ended - began), took[int(len(took) * 0.95)] if took else float("inf")


@pytest.mark.long
def test_people_keep_working_while_a_crowd_holds_on_to_resources(make_site: Callable[..., Site]) -> None:
    site, ledger = make_site(), Ledger()
    temporary = site.folder / "temporary"
    temporary.mkdir()
    site.environment["TMPDIR"] = str(temporary)
    site.call("make_user", email="anna@example.org", password=PASSWORD)
    serve(site)
    clusters = 1000 if SECONDS < 30 else 6000
    study, clients, members = staffed(site, clusters=clusters, robots=ROBOTS + 1, ledger=ledger)
    opening = site.start_worker()  # a round of this size is prepared by a job
    round = study.open_round("work", members, overlap=2, lease_seconds=7200)
    opening.kill()
    *robots, slow = clients
    people = People([Annotator(c, round, seed=n, think=(0.01, 0.03)) for n, c in enumerate(robots)])

    def healthy() -> None:
        with urllib.request.urlopen(site.readiness, timeout=10) as reply:
            assert reply.status == 200

    def both() -> None:
        healthy()
        sign_in()

    def sign_in() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
        headers = {"Content-Type": "application/json", "Cookie": f"csrftoken={'c' * 32}", "X-CSRFToken": "c" * 32}
        body = json.dumps({"email": "anna@example.org", "password": PASSWORD})
        connection.request("POST", "/api/v1/session/", body, headers)
        assert connection.getresponse().status == 200
        connection.close()

    with people.at_work():
        until(lambda: len(people.times) > 20, "people have begun")
        alone = time.monotonic()
        steadily(both, SECONDS, 0.1)
        came = time.monotonic()
        with HostileClients(site.port, behaviours(study.slug, study.lead.token)) as hostile:
            crowded = time.monotonic()
            late = threading.Thread(target=send_slowly, args=(site, slow, round))
            late.start()
            health = steadily(healthy, SECONDS / 2, 0.1)
            sign_ins = steadily(sign_in, SECONDS / 2, 0.1)
            late.join(60)
            left = time.monotonic()
        files = [path.name for path in temporary.iterdir()]
    (rate, p95), (crowded_rate, crowded_p95) = people.between(alone, came), people.between(crowded, left)
    say(
        f"alone {rate:.1f} answers/s, p95 {p95 * 1000:.0f} ms; in the crowd {crowded_rate:.1f}/s, "
        f"{crowded_p95 * 1000:.0f} ms; health at most {max(health) * 1000:.0f} ms, signing in at most "
        f"{max(sign_ins) * 1000:.0f} ms; thrown out: {dict(hostile.rounds)}"
    )
    assert not late.is_alive(), "who is slow and honest gets through"
    assert max(health + sign_ins) < 8
    assert not files, "a file of an upload has no name, and none is read from who may not send it"
    assert crowded_rate > (0.5 * rate if SECONDS >= 30 else 0.1 * rate)
    assert crowded_p95 < (2 * p95 if SECONDS >= 30 else 5), "as it was, or nearly"
    check_against(site, ledger)
    started = site.start_worker()
    study.import_file("later.jsonl", corpus(3).replace(b'"docid": "26', b'"docid": "27'))
    started.kill()
    assert site.web
    assert "Traceback" not in site.web.log.read_text()


def send_slowly(site: Site, client: Any, round: int) -> None:
    """Send an answer of two kilobytes over ten seconds."""
    annotator = Annotator(client, round)
    card = client.get(f"rounds/{round}/next/")["fetched"][0]
    content = annotator.body(card, random.Random(1)) | {"have": [], "comment": "slow " * 300}
    body, name = json.dumps(content).encode(), str(uuid.uuid4())
    client.ledger.sent[name] = body
    with socket.create_connection(("127.0.0.1", site.port), timeout=30) as sock:
        head = (
            f"PUT /api/v1/answers/{name}/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {client.token}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        sock.sendall(head.encode())
        for n in range(20):
            time.sleep(min(0.5, SECONDS / 20))
            sock.sendall(body[n * len(body) // 20 : (n + 1) * len(body) // 20])
        told = b""
        while data := sock.recv(65536):
            told += data
    assert b" 201 " in told.split(b"\r\n")[0], told[:300]


def test_files_are_received_by_some_threads_and_the_others_serve(make_site: Callable[..., Site]) -> None:
    """Slow uploads of leads occupy all upload threads: the next one gets 503, and nobody else is affected."""
    site = make_site()
    site.environment["UPLOADS_AT_ONCE"] = "1"
    leads = [site.call("make_lead", email=f"lead{n}@example.org") for n in range(3)]
    serve(site, threads=2)
    slow: list[http.client.HTTPConnection] = []
    told = []
    for n, token in enumerate(leads):
        made = urllib.request.Request(
            f"{site.address}/api/v1/projects/",
            json.dumps({"name": f"P{n}"}).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(made, timeout=20) as reply:
            slug = json.load(reply)["slug"]
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=2)
        connection.putrequest("POST", f"/api/v1/projects/{slug}/imports/")
        for header in (
            ("Authorization", f"Bearer {token}"),
            ("Content-Length", "1000000"),
            ("Content-Type", "multipart/form-data; boundary=x"),
        ):
            connection.putheader(*header)
        connection.endheaders(b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc')
        slow.append(connection)
        time.sleep(0.5)
        connection.send(b"x")  # before 2.8 Caddy forwards an early reply only with the next bytes of the body
        try:
            refused = connection.getresponse()
        except TimeoutError:
            continue  # it is being received
        told.append((refused.status, refused.headers["Retry-After"], json.load(refused)["type"]))
    assert 1 <= len(told) <= 2, "one place a process, of two"
    assert set(told) == {(503, "30", "/problems/busy")}
    assert max(steadily(lambda: urllib.request.urlopen(site.readiness, timeout=5).read(), 1, 0.05)) < 3
    for connection in slow:
        connection.close()


def test_a_killed_server_leaves_no_temporary_files(make_site: Callable[..., Site]) -> None:
    site = make_site()
    temporary = site.folder / "temporary"
    temporary.mkdir()
    site.environment["TMPDIR"] = str(temporary)
    serve(site)
    study = site.study()
    token = study.lead.token
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as sock:
        head = (
            f"POST /api/v1/projects/{study.slug}/imports/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 90000000\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n"
            '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        )
        sock.sendall(head.encode() + b"x" * 3_000_000)
        until(lambda: any(_open_files(temporary)), "the file is being written", 10)
        site.kill_web()
    assert list(temporary.iterdir()) == []


def _open_files(folder: Path) -> Iterator[str]:
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            target = os.readlink(link)
        except OSError:
            continue
        if target.startswith(str(folder)) and "deleted" in target:
            yield target
