"""The house: settings, routes, the page, the worker's app."""

from .celery import app as celery_app

__all__ = ["celery_app"]
