"""Views of endpoints. Only leads may read or change them."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in

from .. import permissions
from . import actions, queries
from . import serializers as shapes


class EndpointListView(APIView):
    @extend_schema(operation_id="endpoints_list", responses=shapes.EndpointSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the endpoints that the project can use: the administrator's, and its own."""
        member = permissions.endpoint_lead_of(signed_in(request), slug)
        return Response(shapes.EndpointSerializer(queries.rows(member.project), many=True).data)

    @extend_schema(
        operation_id="endpoints_add", request=shapes.NewEndpointSerializer, responses={201: shapes.EndpointSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Add an endpoint to the project. The key is stored encrypted and never returned."""
        member = permissions.endpoint_lead_of(signed_in(request), slug)
        body = shapes.NewEndpointSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        endpoint = actions.add_endpoint(project=member.project, by=member.user, **body.validated_data)
        return Response(shapes.EndpointSerializer(queries.row_of(endpoint)).data, status=status.HTTP_201_CREATED)


class EndpointView(APIView):
    @extend_schema(operation_id="endpoints_remove", responses={204: None})
    def delete(self, request: Request, endpoint_id: int) -> Response:
        """Remove an endpoint of the project, and delete its key."""
        endpoint, member = permissions.endpoint_of(signed_in(request), endpoint_id)
        actions.remove_endpoint(endpoint=endpoint, by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
