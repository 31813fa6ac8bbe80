from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.reports.serializers import FlowChartSerializer
from projects.stored_figures.queries import stored
from projects.stored_figures.serializers import StoredSerializer

from .. import permissions
from .figures import KEY, stages_of
from .tables import flow_chart


class StoredFlowSerializer(StoredSerializer):
    figures = FlowChartSerializer(allow_null=True, help_text="Null until they are computed.")


class FlowView(APIView):
    @extend_schema(operation_id="searches_flow", responses=StoredFlowSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the stored flow figure: records found, exclusions with reasons, and what was created from the rest."""
        project = permissions.import_lead(signed_in(request), slug).project
        found = stored(project, KEY)
        chart = None if found.figures is None else flow_chart(project, stages_of(found))
        return Response(StoredFlowSerializer({"figures": chart, "as_of": found.as_of, "job": found.job}).data)
