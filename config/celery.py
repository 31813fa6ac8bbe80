"""Celery, where there is Redis: it carries job ids as wake-ups and is never trusted to remember them."""

import os
import sys
from importlib.util import find_spec
from typing import Any

from celery import Celery
from celery.schedules import crontab, schedule
from celery.signals import celeryd_after_setup, setup_logging, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_log(**_: Any) -> None:
    """Whoever connects here keeps Celery from setting up a log of its own: Django's settings have ours."""


@celeryd_after_setup.connect  # type: ignore[untyped-decorator]
def refuse_without_torch(instance: Any, **_: Any) -> None:
    """A worker for models that has no torch would fail one run after the other."""
    from projects.background.waiting import NEEDS_TORCH, NO_TORCH

    if NEEDS_TORCH in instance.app.amqp.queues.consume_from and find_spec("torch") is None:
        sys.exit(NO_TORCH)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def hand_back(**_: Any) -> None:
    """A worker that was asked to end does not first do all that it has taken."""
    from projects.background import jobs

    jobs.leave()


app = Celery("concord")
# The broker's address is in the settings, which know `.env`; they are read when first needed, not now.
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
        # A job longer than this is delivered twice; the lease in the job table lets only one worker have it.
        "visibility_timeout": 3600,
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
    },
    beat_schedule={
        "resend lost wake-ups": {
            "task": "projects.resend_lost",
            "schedule": schedule(15.0),
            # A worker that was busy for an hour need not look two hundred times.
            "options": {"expires": 15.0},
        },
        "seal what waits": {
            "task": "projects.seal",
            "schedule": schedule(60.0),
            "options": {"expires": 60.0},
        },
        "mail what is new": {
            "task": "projects.mail",
            "schedule": schedule(60.0),
            "options": {"expires": 60.0},
        },
        "sweep what is spent": {"task": "projects.sweep", "schedule": crontab(hour=3, minute=17)},
    },
)
app.autodiscover_tasks(["projects"])
