"""A thousand guesses at two web processes: throttled by account and address for a quarter of an hour.

Existing and unknown accounts are treated alike (reliability row 42). The server runs as in production, so its log
and metrics are checked too.
"""

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pytest

from tests.processes.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.row(42)]
PASSWORD = "correct horse battery staple"
KNOWN, UNKNOWN = "anna@example.org", "nobody@example.org"
THREADS = 8
#: Requests beyond a limit that may pass, because others' failures are not stored yet.
SLACK = THREADS
TOKEN = "read-the-numbers-of-this-house"

Reply = tuple[int, bytes]


@pytest.fixture
def guarded(make_site: Callable[..., Site]) -> Site:
    """A site behind a proxy, so that guesses can come from different addresses."""
    site = make_site()
    site.environment |= {
        "BEHIND_PROXY": "1",
        "ALLOWED_HOSTS": "127.0.0.1",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "INFO",
        "METRICS_TOKEN": TOKEN,
    }
    site.call("make_user", email=KNOWN, password=PASSWORD)
    site.start_web()
    return site


class Guesser:
    """A client with one connection per guess, so that both processes get requests."""

    def __init__(self, site: Site) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)

    def post(self, address: str, body: dict[str, Any], source: str) -> Reply:
        headers = {
            "Content-Type": "application/json",
            "X-Forwarded-For": source,
            "Cookie": f"csrftoken={'c' * 32}",
            "X-CSRFToken": "c" * 32,
            "Connection": "close",
        }
        self.connection.request("POST", f"/api/v1/{address}", json.dumps(body), headers)
        reply = self.connection.getresponse()
        return reply.status, reply.read()

    def sign_in(self, email: str, password: str, source: str) -> Reply:
        return self.post("session/", {"email": email, "password": password}, source)


def at_once(site: Site, tasks: Iterable[tuple[Any, ...]], do: Callable[..., Reply]) -> list[tuple[Any, Reply]]:
    """Run all tasks in eight threads and return (first part of the task, reply)."""
    waiting, done, lock = iter(list(tasks)), [], threading.Lock()

    def work() -> None:
        guesser = Guesser(site)
        while True:
            with lock:
                task = next(waiting, None)
            if task is None:
                return
            reply = do(guesser, *task)
            with lock:
                done.append((task[0], reply))

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


@pytest.mark.long
def test_a_thousand_guesses_are_throttled_and_nobody_is_locked_out(guarded: Site) -> None:
    tried = 0

    def guess(guesser: Guesser, email: str, n: int, source: str) -> Reply:
        return guesser.sign_in(email, f"a wrong secret {n}", source)

    # One account from one address: ten attempts, and the same for an unknown account.
    tasks = [(email, n, "192.0.2.1") for n, email in product(range(100), (KNOWN, UNKNOWN))]
    told = at_once(guarded, tasks, guess)
    tried += len(tasks)
    for email in (KNOWN, UNKNOWN):
        statuses = Counter(status for name, (status, _) in told if name == email)
        assert set(statuses) == {422, 429}
        # Two simultaneous failures can both count as the tenth, so slightly fewer than nine may pass.
        assert 9 - SLACK <= statuses[422] <= 9 + SLACK, statuses
    for status in (422, 429):
        bodies = {
            name: {body for told_name, (s, body) in told if (told_name, s) == (name, status)} for name, *_ in tasks
        }
        assert len(bodies[KNOWN]) == 1
        assert bodies[KNOWN] == bodies[UNKNOWN]
    anna = Guesser(guarded)
    assert anna.sign_in(KNOWN, PASSWORD, "192.0.2.1")[0] == 429
    assert anna.sign_in(KNOWN, PASSWORD, "192.0.2.2")[0] == 200, "from elsewhere she gets in"

    # Many accounts from one address: a hundred attempts.
    told = at_once(guarded, [(f"p{n}@example.org", n, "192.0.2.3") for n in range(500)], guess)
    statuses = Counter(status for _, (status, _) in told)
    tried += len(told) + 2
    assert set(statuses) == {422, 429}
    assert 100 <= statuses[422] <= 100 + SLACK, statuses
    assert anna.sign_in(KNOWN, PASSWORD, "192.0.2.3")[0] == 429
    assert anna.sign_in(KNOWN, PASSWORD, "192.0.2.4")[0] == 200

    # Secret links and invitations from one address: thirty attempts of both kinds together.
    addresses = ("session/link/", "invitations/look/", "invitations/accept/")
    tokens = [(addresses[n % 3], {"token": f"{n}" * 12}, "192.0.2.5") for n in range(300)]
    statuses = Counter(status for _, (status, _) in at_once(guarded, tokens, Guesser.post))
    assert set(statuses) == {410, 429}
    assert 30 <= statuses[410] <= 30 + SLACK, statuses

    # A quarter of an hour later everything is allowed again, whatever was tried meanwhile.
    assert guarded.call("wait_out", minutes=16) > 100
    for source in ("192.0.2.1", "192.0.2.3", "192.0.2.5"):
        assert anna.sign_in(KNOWN, PASSWORD, source)[0] == 200
    tried += 2 + 3
    the_log_and_the_numbers_tell_it(guarded, tried)


def the_log_and_the_numbers_tell_it(site: Site, tried: int) -> None:
    """Both processes have counted requests, and neither logged what was guessed."""
    assert site.web
    log = site.web.log.read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert "gunicorn.access" not in {line["logger"] for line in lines}, "it would write addresses down"
    requests = [line for line in lines if line["logger"] == "concord.request"]
    assert len({line["pid"] for line in requests}) == 2
    assert sum(line["route"] == "/api/v1/session/" for line in requests) == tried
    assert not [line for line in lines if line["level"] in ("ERROR", "CRITICAL")]
    for secret in (PASSWORD, "a wrong secret", KNOWN, "p77@", "7" * 12):
        assert secret not in log
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": "192.0.2.9"})
    told = connection.getresponse().read().decode()
    counted = [
        line
        for line in told.splitlines()
        if line.startswith("concord_requests_total{") and '"/api/v1/session/"' in line
    ]
    assert sum(float(line.split()[-1]) for line in counted) == tried
