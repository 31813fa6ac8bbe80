"""The guides of docs/, in the pages: what a person reads beside the work is what a reader of the files reads."""

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in
from projects.pages.markdown import as_html

#: Those that the pages show; other files of docs/ are for people who have the source.
GUIDES = ("annotator", "lead", "admin", "measures")
#: A link of the documents to another one.
_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\.md(#[\w-]+)?\)")


class ChoiceSerializer(serializers.Serializer[Any]):
    guide = serializers.ChoiceField(choices=GUIDES)


class GuideSectionSerializer(serializers.Serializer[Any]):
    anchor = serializers.CharField(help_text="By which an address leads to the section.")
    title = serializers.CharField()
    html = serializers.CharField(help_text="Reduced to safe elements.")


class GuideSerializer(serializers.Serializer[Any]):
    title = serializers.CharField()
    begin = serializers.CharField(help_text="What stands before the first section, as HTML.")
    sections = GuideSectionSerializer(many=True)


class GuideView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="guides_get", parameters=[ChoiceSerializer], responses=GuideSerializer)
    def get(self, request: Request) -> Response:
        """A guide, section by section."""
        signed_in(request)
        chosen = ChoiceSerializer(data=request.query_params)
        chosen.is_valid(raise_exception=True)
        guide = chosen.validated_data["guide"]
        text = (Path(settings.ROOT) / "docs" / f"{guide}.md").read_text(encoding="utf-8")
        return Response(GuideSerializer(split(within(text))).data)


def within(text: str) -> str:
    """Links to other guides lead to their pages; what has no page is only named."""
    return _LINK.sub(lambda m: f"[{m[1]}](/guide/{m[2]}{m[3] or ''})" if m[2] in GUIDES else m[1], text)


def split(text: str) -> dict[str, Any]:
    """A Markdown text as title, beginning and its sections (``##``), each with an anchor made of its title."""
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, begin = head.partition("\n")
    sections = []
    for part in parts:
        name, _, body = part.partition("\n")
        sections.append({"anchor": anchor(name), "title": name.strip(), "html": as_html(body)})
    return {"title": title.removeprefix("# ").strip(), "begin": as_html(begin), "sections": sections}


def anchor(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))
