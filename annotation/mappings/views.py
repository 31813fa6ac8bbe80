"""API of mappings: try one on the first rows, check all rows, and save it by name."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.jobs.queries import fresh_job
from projects.uploads.serializers import FileCheckSerializer

from .. import permissions
from ..formats.columns.mapping import ColumnMapping, parsed
from ..models import SavedMapping
from . import actions, queries
from .serializers import (
    ExportedMappingSerializer,
    MappedCheckSerializer,
    SavedMappingSerializer,
    SaveMappingSerializer,
    TriedSerializer,
    TrySerializer,
)


class TryMappingView(APIView):
    @extend_schema(operation_id="mappings_try", request=TrySerializer, responses=TriedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Return the first rows of an uploaded table with a mapping, its faults and its items.

        Without a mapping, settings and roles are guessed. A saved mapping whose column is gone is refused.
        """
        member = permissions.import_lead(signed_in(request), slug)
        body = TrySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        _, source = queries.source_of(member.project, given["job"])
        mapping: ColumnMapping | None = None
        if saved := given["mapping"]:
            mapping = parsed(actions.mapping_of(member.project, saved).content)
        elif given["columns"].strip():
            mapping = parsed(given["columns"])
        tried = queries.tried(member.project, source, mapping, must_fit=bool(saved))
        return Response(TriedSerializer(tried).data)


class MappedCheckView(APIView):
    @extend_schema(operation_id="mappings_check", request=MappedCheckSerializer, responses={202: FileCheckSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Check all rows of an uploaded table with a mapping. The job's result is the preview to confirm."""
        user = signed_in(request)
        member = permissions.import_lead(user, slug)
        body = MappedCheckSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        job = actions.start_check(
            project=member.project, job_id=given["job"], mapping=parsed(given["columns"]), by=user
        )
        return Response(FileCheckSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class MappingListView(APIView):
    @extend_schema(operation_id="mappings_list", responses=SavedMappingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the saved mappings."""
        member = permissions.import_lead(signed_in(request), slug)
        rows = SavedMapping.objects.filter(project=member.project).defer("content")
        return Response(SavedMappingSerializer(rows, many=True).data)

    @extend_schema(operation_id="mappings_save", request=SaveMappingSerializer, responses={201: SavedMappingSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Save a mapping by name. One of the same name is replaced."""
        user = signed_in(request)
        member = permissions.import_lead(user, slug)
        body = SaveMappingSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        saved = actions.save(project=member.project, name=given["name"], mapping=parsed(given["columns"]), by=user)
        return Response(SavedMappingSerializer(saved).data, status=status.HTTP_201_CREATED)


class MappingView(APIView):
    @extend_schema(operation_id="mappings_get", responses=ExportedMappingSerializer)
    def get(self, request: Request, slug: str, mapping_id: int) -> Response:
        """Return a saved mapping with its JSON."""
        member = permissions.import_lead(signed_in(request), slug)
        return Response(ExportedMappingSerializer(actions.mapping_of(member.project, mapping_id)).data)

    @extend_schema(operation_id="mappings_remove", responses={204: None})
    def delete(self, request: Request, slug: str, mapping_id: int) -> Response:
        """Remove a saved mapping. Imports keep the mapping that they used."""
        user = signed_in(request)
        member = permissions.import_lead(user, slug)
        actions.remove(actions.mapping_of(member.project, mapping_id), by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)
