"""Celery, where there is Redis: it carries job ids as wake-ups and is never trusted to remember them."""

import os
from typing import Any

from celery import Celery
from celery.schedules import crontab, schedule
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_our_log(**_: Any) -> None:
    """Whoever connects here keeps Celery from setting up a log of its own: Django's settings have ours."""


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
        "resend lost wake-ups": {"task": "projects.resend_lost", "schedule": schedule(30.0)},
        "sweep what is spent": {"task": "projects.sweep", "schedule": crontab(hour=3, minute=17)},
    },
)
app.autodiscover_tasks(["projects"])
