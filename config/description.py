"""The description of the API, served to everybody."""

import threading
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request


class DescriptionView(SpectacularAPIView):
    """Written once a process: that takes half a second, and anybody may ask for it."""

    written: dict[str, bytes] = {}
    lock = threading.Lock()

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        renderer: Any = request.accepted_renderer
        with self.lock:
            if renderer.format not in self.written:
                generator: Any = self.generator_class()
                self.written[renderer.format] = renderer.render(generator.get_schema(public=True), renderer_context={})
        return HttpResponse(self.written[renderer.format], content_type=renderer.media_type)
