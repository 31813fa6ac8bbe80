"""API views of guideline changes."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in

from ..concerns.queries import GuidelineChange
from ..models import Guideline
from ..permissions import guideline_to, member_of, permit
from ..rounds.previews import free_name
from ..stored_figures.queries import Stored, stored
from . import queries
from .actions import open_correction
from .figures import KEY
from .serializers import ChangeRoundSerializer, GuidelineChangeSerializer, NewCorrectionSerializer


class GuidelineChangeView(APIView):
    @extend_schema(operation_id="guidelines_change", responses=GuidelineChangeSerializer)
    def get(self, request: Request, slug: str, guideline_id: int) -> Response:
        """Return what a version concerned, how many units were revisited and changed, and what is left."""
        member = member_of(signed_in(request), slug)
        permit(member, "read rounds")
        guideline = guideline_to(member.project, guideline_id)
        change = GuidelineChange.of(guideline)
        used_names = set(member.project.rounds.values_list("name", flat=True))
        proposal = {
            "name": free_name(f"Correction after guideline {change.number}", used_names),
            "people": queries.proposed_people(queries.last_round(change)),
        }
        found = _figures(guideline, change) | {"rounds": queries.correction_rounds(change)} | proposal
        return Response(GuidelineChangeSerializer(found).data)


def _figures(guideline: Guideline, change: GuidelineChange) -> dict[str, Any]:
    """Return the figures as they are now, or in a large project as a job has stored them."""
    if not queries.is_large(change.project):
        found: Any = queries.figures(change) | queries.open_work(change)
        known = Stored(found, None, None)
    else:
        known = stored(change.project, KEY)
        found = (known.figures or {}).get(str(guideline.pk))
    if found:
        found |= {"changes": queries.in_words(change.kind, found["changes"])}
    return {"figures": found, "as_of": known.as_of, "job": known.job}


class GuidelineCorrectionView(APIView):
    @extend_schema(
        operation_id="guidelines_correct", request=NewCorrectionSerializer, responses={201: ChangeRoundSerializer}
    )
    def post(self, request: Request, slug: str, guideline_id: int) -> Response:
        """Open a correction round of the units that the version concerns and that are not yet revisited."""
        member = member_of(signed_in(request), slug)
        permit(member, "open, change and close rounds")
        body = NewCorrectionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        guideline = guideline_to(member.project, guideline_id)
        round = open_correction(guideline=guideline, by=member.user, **body.validated_data)
        return Response(ChangeRoundSerializer(round).data, status=status.HTTP_201_CREATED)
