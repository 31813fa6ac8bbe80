"""The WSGI door, served by gunicorn."""

import os
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.urls import get_resolver
from django.utils.http import parse_header_parameters


class Request(WSGIRequest):
    """A request whose letters are UTF-8, whatever it says of them (`config.bodies` refuses those that say otherwise).

    Django would read the address in the charset of the body while it makes the request: outside of all that turns a
    failure into a reply, and by any codec that Python has.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


class Door(WSGIHandler):
    request_class = Request


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)
# All that answers is imported before there is anybody to wait for it, and before there are processes.
get_resolver().url_patterns  # noqa: B018 - a property that imports
application = Door()
