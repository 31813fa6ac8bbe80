from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.reports.serializers import FlowChartSerializer

from .. import permissions
from .queries import stages
from .tables import flow_chart


class FlowView(APIView):
    @extend_schema(operation_id="searches_flow", responses=FlowChartSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the flow figure: records found, exclusions with reasons, and what was created from the rest."""
        member = permissions.import_lead(signed_in(request), slug)
        return Response(FlowChartSerializer(flow_chart(member.project, stages(member.project))).data)
