"""Prometheus metrics: correct, by route, and only for those who may read them."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from accounts.models import Failure, User
from projects.models import Job, Project

pytestmark = pytest.mark.django_db
TOKEN = "for-the-tests-of-metrics"


@pytest.fixture
def on(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def read() -> dict[str, float]:
    """Return sample with labels -> value."""
    reply = Client().get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")
    assert reply.status_code == 200
    samples = [s for family in text_string_to_metric_families(reply.content.decode()) for s in family.samples]
    return {f"{s.name}{sorted(s.labels.items())}" if s.labels else s.name: s.value for s in samples}


def test_metrics_are_disabled_without_a_token_or_network(settings: Any) -> None:
    assert (settings.METRICS_TOKEN, settings.METRICS_FROM) == ("", [])
    assert Client().get("/metrics").status_code == 404


def test_metrics_need_the_token_or_an_allowed_address(on: None, settings: Any) -> None:
    for header in ("", "Bearer wrong", f"Basic {TOKEN}", "Bearer "):
        assert Client().get("/metrics", HTTP_AUTHORIZATION=header).status_code == 404
    settings.METRICS_FROM = ["10.1.0.0/16", "fd00::/8"]
    assert Client(REMOTE_ADDR="10.1.7.7").get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="fd00::7").get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="10.2.0.1").get("/metrics").status_code == 404
    settings.BEHIND_PROXY = True
    for address in ("198.51.100.7", "no address"):  # requests through the proxy are not internal
        through = Client(REMOTE_ADDR="10.1.0.2", HTTP_X_FORWARDED_FOR=address)
        assert through.get("/metrics").status_code == 404


def test_requests_are_counted_by_method_route_and_status(
    on: None, project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    label = "[('method', 'GET'), ('route', '/api/v1/projects/<slug:slug>/'), ('status', '{}')]"
    took = "concord_request_seconds_count[('method', 'GET'), ('route', '/api/v1/projects/<slug:slug>/')]"
    before = read()
    for slug in ("eye", "eye", "ear"):
        client_of(lead).get(f"/api/v1/projects/{slug}/?secret=1")
    Client().generic("BREW", "/api/v1/projects/eye/")
    after = read()
    for status, more in (("200", 2), ("404", 1)):
        key = f"concord_requests_total{label.format(status)}"
        assert after[key] - before.get(key, 0) == more
    assert after[took] - before.get(took, 0) == 3
    told = str(after)
    assert "secret" not in told
    assert "BREW" not in told
    assert "metrics" not in told, "those who read count themselves not"


def test_job_metrics_are_computed_from_rows(on: None, project: Project, lead: User) -> None:
    now = timezone.now()
    Job.objects.create(project=project, kind="import", created_by=lead)
    Job.objects.create(project=project, kind="import", created_by=lead, queue="gpu")
    Job.objects.filter(queue="gpu").update(created_at=now - timedelta(hours=1))
    Job.objects.create(kind="import", status="running", leased_until=now + timedelta(minutes=1))
    Job.objects.create(kind="import", status="running", leased_until=now - timedelta(minutes=1))
    for seconds in (30, 12):
        Job.objects.create(kind="release", status="done", started_at=now, finished_at=now + timedelta(seconds=seconds))
    Job.objects.create(kind="release", status="cancelled", finished_at=now)
    found = read()
    assert found["concord_jobs_waiting[('queue', 'default')]"] == 1
    assert found["concord_jobs_waiting[('queue', 'gpu')]"] == 1
    assert 3600 <= found["concord_job_oldest_waiting_seconds[('queue', 'gpu')]"] < 3700
    assert (found["concord_jobs_running"], found["concord_jobs_stalled"]) == (1, 1)
    assert found["concord_jobs_finished_total[('kind', 'release'), ('status', 'done')]"] == 2
    assert found["concord_job_seconds_total[('kind', 'release'), ('status', 'done')]"] == 42
    assert found["concord_job_seconds_total[('kind', 'release'), ('status', 'cancelled')]"] == 0


def test_answers_and_failed_tries_are_counted(on: None) -> None:
    Failure.objects.create(what="token", who="192.0.2.1", at=timezone.now())
    Failure.objects.create(what="token", who="192.0.2.1", at=timezone.now() - timedelta(hours=1))
    found = read()
    assert found["concord_answers"] == 0
    assert found["concord_failed_tries[('what', 'token')]"] == 1
    assert found["concord_failed_tries[('what', 'sign-in')]"] == 0


def test_metrics_are_read_in_a_fixed_number_of_queries(on: None, django_assert_num_queries: Any) -> None:
    Job.objects.bulk_create(Job(kind=f"kind {n % 5}", queue=f"q{n % 3}") for n in range(50))
    with django_assert_num_queries(6):
        read()


def test_counters_of_a_server_that_was_killed_are_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from config import gunicorn

    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f"{ended.pid}-killed", f"{os.getpid()}-alive", "nobody-knows"):
        (tmp_path / f"concord-metrics-{name}").mkdir()
    monkeypatch.setattr(gunicorn, "worker_tmp_dir", str(tmp_path))
    made = gunicorn.folder_of_counters()
    assert {path.name.rpartition("-")[2] for path in tmp_path.iterdir()} == {"alive", "knows", made.rpartition("-")[2]}
