"""The house: settings, routes, the page, the worker's app."""

import gc

# A start makes half a million objects that stay. To look through them for garbage again and again is a fifth of it.
gc.set_threshold(50_000, 20, 20)

from .celery import app as celery_app  # noqa: E402 - what is imported is what is made

__all__ = ["celery_app"]
