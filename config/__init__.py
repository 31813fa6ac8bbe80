"""Django project: settings, URL routes, the frontend page, and the Celery app."""

import gc

# The start creates half a million permanent objects. Frequent garbage collection would take a fifth of the time.
gc.set_threshold(50_000, 20, 20)

from .celery import app as celery_app  # noqa: E402 - what is imported is what is made

__all__ = ["celery_app"]
