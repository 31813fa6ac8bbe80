"""Prometheus metrics: request counters of this server's processes, and values from the database.

Metrics are disabled unless METRICS_TOKEN or METRICS_FROM is set. gunicorn's processes share a folder of counters
(config.gunicorn). Metrics of background jobs are queried from their rows.
"""

import os
from collections.abc import Iterable, Iterator
from hmac import compare_digest
from ipaddress import ip_network

from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Min, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from accounts import throttling
from accounts.models import Failure
from api.addresses import client_ip
from projects.jobs.queries import stalled as lapsed
from projects.models import Answer, Job, JobStatus

METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
#: Counters of this process. With gunicorn they are stored in files that all its processes read.
OF_PROCESS = CollectorRegistry()
REQUESTS = Counter("concord_requests", "Number of HTTP requests.", ["method", "route", "status"], registry=OF_PROCESS)
SECONDS = Histogram(
    "concord_request_seconds", "Duration of HTTP requests.", ["method", "route"], buckets=BUCKETS, registry=OF_PROCESS
)


def are_on() -> bool:
    return bool(settings.METRICS_TOKEN or settings.METRICS_FROM)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count one request by its route. Addresses are unbounded and would create too many time series."""
    if are_on():
        method = method if method in METHODS else "other"
        REQUESTS.labels(method, route, str(status)).inc()
        SECONDS.labels(method, route).observe(seconds)


class OfDataBase(Collector):
    """Metrics that are queried from the database when they are collected."""

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "concord_answers", "Number of stored answers, all revisions.", value=Answer.objects.count()
        )
        yield from _waiting_jobs()
        yield from _finished_jobs()
        failures = GaugeMetricFamily(
            "concord_failed_tries",
            "Failed attempts to sign in, use links or change passwords in the last 15 minutes.",
            labels=["what"],
        )
        recent = Failure.objects.filter(at__gt=timezone.now() - throttling.WINDOW)
        found = dict(recent.values_list("what").annotate(n=Count("pk")))
        for what in Failure.What.values:
            failures.add_metric([what], found.get(what, 0))
        yield failures


def _waiting_jobs() -> Iterator[Metric]:
    now = timezone.now()
    waiting = GaugeMetricFamily("concord_jobs_waiting", "Number of queued jobs.", labels=["queue"])
    oldest = GaugeMetricFamily("concord_job_oldest_waiting_seconds", "Age of the oldest queued job.", labels=["queue"])
    queued = Job.objects.filter(status=JobStatus.QUEUED).order_by().values_list("queue")
    rows = {queue: (number, first) for queue, number, first in queued.annotate(n=Count("pk"), first=Min("created_at"))}
    for queue in sorted({"default", *rows}):
        number, first = rows.get(queue, (0, now))
        waiting.add_metric([queue], number)
        oldest.add_metric([queue], max((now - first).total_seconds(), 0))
    yield from (waiting, oldest)
    running = Job.objects.filter(status=JobStatus.RUNNING)
    stalled = Job.objects.filter(lapsed(now)).count()
    yield GaugeMetricFamily("concord_jobs_running", "Number of running jobs.", value=running.count() - stalled)
    yield GaugeMetricFamily(
        "concord_jobs_stalled", "Number of running jobs whose worker stopped responding.", value=stalled
    )


def _finished_jobs() -> Iterator[Metric]:
    number = CounterMetricFamily(
        "concord_jobs_finished", "Number of finished jobs by status.", labels=["kind", "status"]
    )
    seconds = CounterMetricFamily("concord_job_seconds", "Duration of jobs.", labels=["kind", "status"])
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    ended = Job.objects.exclude(finished_at=None).order_by().values_list("kind", "status")
    for kind, status, count, total in ended.annotate(n=Count("pk"), took=Sum(took)):
        number.add_metric([kind, status], count)
        seconds.add_metric([kind, status], total.total_seconds() if total else 0)
    yield from (number, seconds)


def _of_processes() -> Iterable[Metric]:
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return OF_PROCESS.collect()
    shared = CollectorRegistry()
    multiprocess.MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    return shared.collect()


class Everything(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from _of_processes()
        yield from OfDataBase().collect()


def _may_read(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if settings.METRICS_TOKEN and scheme.lower() == "bearer":
        return compare_digest(token.encode(), settings.METRICS_TOKEN.encode())
    asking = client_ip(request)
    return asking is not None and any(asking in ip_network(n, strict=False) for n in settings.METRICS_FROM)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to permitted clients, and 404 to others."""
    if not (are_on() and _may_read(request)):
        return HttpResponse("Not found\n", status=404, content_type="text/plain")
    registry = CollectorRegistry()
    registry.register(Everything())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
