"""Celery app, used if there is Redis. It carries job ids as wake-ups; the jobs are stored in the database."""

import os
import sys
from importlib.util import find_spec
from typing import Any

from celery import Celery
from celery.schedules import crontab, schedule
from celery.signals import celeryd_after_setup, celeryd_init, setup_logging, worker_shutting_down
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_log(**_: Any) -> None:
    """Keep the logging of Django's settings: a connected receiver stops Celery from configuring its own."""


@celeryd_after_setup.connect  # type: ignore[untyped-decorator]
def refuse_without_torch(instance: Any, **_: Any) -> None:
    """Stop a worker for models if torch is missing. All its runs would fail."""
    from projects.jobs.queries import NEEDS_TORCH, NO_TORCH

    if NEEDS_TORCH in instance.app.amqp.queues.consume_from and find_spec("torch") is None:
        sys.exit(NO_TORCH)


@celeryd_init.connect  # type: ignore[untyped-decorator]
def supervise(**_: Any) -> None:
    """Kill a process that hangs in a job. The parent process that does so is started before the worker has threads."""
    from projects.jobs import supervision
    from projects.jobs.running import end_killed

    supervision.supervise(end_killed)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def requeue(**_: Any) -> None:
    """Requeue the interruptible jobs of a stopping worker, and let it claim no further ones."""
    from projects.jobs.running import request_exit

    request_exit()


TRANSPORT_ALIASES |= dict.fromkeys(("redis", "rediss"), "config.broker:Transport")
app = Celery("concord")
# The settings know the broker's address from `.env`. Celery reads them lazily.
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    result_backend=None,
    task_ignore_result=True,
    accept_content=["json"],
    task_serializer="json",
    task_default_queue="default",
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        # A longer job is delivered twice, but the lease in the job table permits only one worker.
        "visibility_timeout": 3600,
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
    },
    beat_schedule={
        "resend lost wake-ups": {
            "task": "projects.resend_lost",
            "schedule": schedule(15.0),
            # Prevents a backlog of wake-ups after a worker was busy.
            "options": {"expires": 15.0},
        },
        "create audit checkpoints": {
            "task": "projects.create_checkpoints",
            "schedule": schedule(60.0),
            "options": {"expires": 60.0},
        },
        "send e-mail digests": {"task": "projects.mail", "schedule": schedule(60.0), "options": {"expires": 60.0}},
        "return late places": {
            "task": "projects.return_late_places",
            "schedule": schedule(60.0),
            "options": {"expires": 60.0},
        },
        "check accuracy": {"task": "projects.check_accuracy", "schedule": schedule(60.0), "options": {"expires": 60.0}},
        "delete expired rows": {"task": "projects.sweep", "schedule": crontab(hour=3, minute=17)},
    },
)
app.autodiscover_tasks(["projects"])
