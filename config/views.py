"""Views of no app: guides, the API description, and signing in for the admin."""

import re
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import signed_in
from api.problems import Forbidden, NotFound
from config.error_pages import reply_with
from projects.guidelines.markdown import as_html

#: Guides that the frontend shows. The other files of docs/ are for developers.
GUIDES = (
    "tutorial",
    "tutorial-systems",
    "tutorial-release",
    "lead",
    "annotator",
    "after",
    "tasks",
    "propositions",
    "write",
    "corpus",
    "columns",
    "published",
    "pubmed",
    "records",
    "mapping",
    "curate",
    "consistency",
    "counterfactuals",
    "rounds",
    "pilots",
    "practice",
    "suggestions",
    "changes",
    "accuracy",
    "volunteers",
    "crowd",
    "pay",
    "study",
    "agreement",
    "protocols",
    "ratings",
    "judges",
    "external",
    "systems",
    "train",
    "checkpoints",
    "readings",
    "results",
    "export",
    "splits",
    "releases",
    "methods",
    "load",
    "cite",
    "admin",
    "processes",
    "proxy",
    "signin",
    "models",
    "endpoints",
    "operations",
    "backup",
    "roles",
    "commands",
    "formats",
    "figures",
    "metrics",
    "copying",
    "direction",
    "measures",
    "judgements",
    "worth",
    "intervals",
    "coverage",
    "settings",
    "limits",
)
IMAGES = Path(settings.ROOT) / "docs" / "images"
#: A picture, on a line of its own.
_PICTURE = re.compile(r"^!\[([^\]]+)\]\(images/([\w-]+)\.png\)$", re.MULTILINE)
#: A link to another document.
_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\.md(#[\w-]+)?\)")


class ChoiceSerializer(serializers.Serializer[Any]):
    guide = serializers.ChoiceField(choices=GUIDES)


class PictureSerializer(serializers.Serializer[Any]):
    name = serializers.SlugField()


class GuidePictureSerializer(serializers.Serializer[Any]):
    src = serializers.CharField()
    alt = serializers.CharField()


class GuideSectionSerializer(serializers.Serializer[Any]):
    anchor = serializers.CharField(help_text="Anchor of the section in URLs.")
    title = serializers.CharField()
    html = serializers.CharField(help_text="HTML with safe elements only.")
    pictures = GuidePictureSerializer(many=True)


class GuideSerializer(serializers.Serializer[Any]):
    title = serializers.CharField()
    begin = serializers.CharField(help_text="HTML before the first section.")
    sections = GuideSectionSerializer(many=True)


class GuideView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="guides_get", parameters=[ChoiceSerializer], responses=GuideSerializer)
    def get(self, request: Request) -> Response:
        """Return a guide, split into sections."""
        signed_in(request)
        chosen = ChoiceSerializer(data=request.query_params)
        chosen.is_valid(raise_exception=True)
        guide = chosen.validated_data["guide"]
        text = (Path(settings.ROOT) / "docs" / f"{guide}.md").read_text(encoding="utf-8")
        return Response(GuideSerializer(split(within(text))).data)


class GuidePictureView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="guides_picture", parameters=[PictureSerializer], responses={(200, "image/png"): bytes})
    def get(self, request: Request) -> FileResponse:
        """Return a picture of a guide."""
        signed_in(request)
        asked = PictureSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        path = IMAGES / f"{asked.validated_data['name']}.png"
        if not path.is_file():
            raise NotFound("There is no such picture.")
        return FileResponse(path.open("rb"), content_type="image/png")


def within(text: str) -> str:
    """Point links to the pages of the guides. Links to other documents become plain text."""
    return _LINK.sub(lambda m: f"[{m[1]}](/guide/{m[2]}{m[3] or ''})" if m[2] in GUIDES else m[1], text)


def split(text: str) -> dict[str, Any]:
    """Split a Markdown text into title, introduction and sections (``##``). Anchors are made from section titles."""
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, begin = head.partition("\n")
    sections = []
    for part in parts:
        name, _, body = part.partition("\n")
        pictures = [{"src": f"/api/v1/guides/picture/?name={name}", "alt": alt} for alt, name in _PICTURE.findall(body)]
        html = as_html(_PICTURE.sub("", body))
        sections.append({"anchor": anchor(name), "title": name.strip(), "html": html, "pictures": pictures})
    return {"title": title.removeprefix("# ").strip(), "begin": as_html(begin), "sections": sections}


def anchor(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))


class DescriptionView(SpectacularAPIView):
    """Serve the API description. It is generated once per process, because generation takes half a second."""

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


@require_safe
@never_cache
def admin_login(request: HttpRequest) -> HttpResponse:
    """Redirect an unauthenticated user to the sign-in page and back. Refuse users who are not operators."""
    requested = request.GET.get("next", "")
    is_admin_page = requested.startswith("/admin/") and url_has_allowed_host_and_scheme(requested, allowed_hosts=None)
    target = requested if is_admin_page else "/admin/"
    if admin.site.has_permission(request):
        return HttpResponseRedirect(target)
    if request.user.is_authenticated:
        return reply_with(request, Forbidden("These pages are for administrators. Sign out to use another account."))
    return HttpResponseRedirect("/sign-in?" + urlencode({"to": target}))
