"""API views of runs: start, progress, stop, resume, retry, and embargoes on their outputs."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.pagination import Pages
from projects.models import Member
from projects.permissions import may

from .. import permissions
from ..models import Embargo, Run, RunItem
from . import actions
from . import serializers as shapes
from .queries import run_page


class RunListView(APIView):
    @extend_schema(operation_id="runs_start", request=shapes.NewRunSerializer, responses={201: shapes.RunSerializer})
    def post(self, request: Request, version_id: int) -> Response:
        """Start a run of a version over all units of its level."""
        version, member = permissions.version_of(signed_in(request), version_id, permissions.RUN)
        body = shapes.NewRunSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        run = actions.start_run(version=version, by=member.user, **body.validated_data)
        return Response(_run(run, member), status=status.HTTP_201_CREATED)


class RunView(APIView):
    @extend_schema(operation_id="runs_get", responses=shapes.RunSerializer)
    def get(self, request: Request, run_id: int) -> Response:
        """Return a run with its progress."""
        return Response(_run(*permissions.run_of(signed_in(request), run_id)))


class RunStopView(APIView):
    @extend_schema(operation_id="runs_stop", request=None, responses=shapes.RunSerializer)
    def post(self, request: Request, run_id: int) -> Response:
        """Stop a run. Finished items are kept, and workers complete their current batch."""
        run, member = permissions.run_of(signed_in(request), run_id, permissions.RUN)
        actions.stop_run(run=run, by=member.user)
        return Response(_again(run, member))


class RunResumeView(APIView):
    @extend_schema(operation_id="runs_resume", request=None, responses=shapes.RunSerializer)
    def post(self, request: Request, run_id: int) -> Response:
        """Resume a stopped run with the items that are still waiting."""
        run, member = permissions.run_of(signed_in(request), run_id, permissions.RUN)
        actions.resume_run(run=run, by=member.user)
        return Response(_again(run, member))


class RunRetryView(APIView):
    @extend_schema(operation_id="runs_retry", request=None, responses=shapes.RunSerializer)
    def post(self, request: Request, run_id: int) -> Response:
        """Retry the failed items of a run.

        Forbidden if the run is embargoed for you, because it reveals that items failed.
        """
        run, member = permissions.open_run_of(signed_in(request), run_id, permissions.RUN)
        actions.retry_failed(run=run, by=member.user)
        return Response(_again(run, member))


class RunItemListView(generics.ListAPIView[RunItem]):
    queryset = RunItem.objects.none()
    serializer_class = shapes.RunItemSerializer

    @extend_schema(operation_id="run_items_list", parameters=[shapes.ItemFilterSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the units of a run with their status; ``status=failed`` gives the reasons.

        Empty if the run is embargoed for you.
        """
        run, member = permissions.run_of(signed_in(request), kwargs["run_id"])
        query = shapes.ItemFilterSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        items = (
            RunItem.objects.visible_to(member)
            .filter(run=run)
            .select_related("unit")
            .order_by("id")
            .filter(**query.validated_data)
        )
        page = self.paginate_queryset(items) or []
        return self.get_paginated_response(shapes.RunItemSerializer(page, many=True).data)


class EmbargoListView(APIView):
    pagination_class = Pages  # read by the schema

    @extend_schema(operation_id="embargoes_list", responses=shapes.EmbargoSerializer(many=True))
    def get(self, request: Request, run_id: int) -> Response:
        """List the current and lifted embargoes of a run."""
        run, member = permissions.run_of(signed_in(request), run_id)
        pages = Pages()
        embargoes = run.embargoes.select_related("member__user").order_by("id")
        page = pages.paginate_queryset(embargoes, request, view=self) or []
        return pages.get_paginated_response(_embargoes(page, member))

    @extend_schema(
        operation_id="embargoes_make",
        request=shapes.NewEmbargoesSerializer,
        responses={201: shapes.EmbargoSerializer(many=True)},
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Embargo a run's outputs for members until the embargoes are lifted."""
        run, member = permissions.run_of(signed_in(request), run_id, permissions.RUN)
        body = shapes.NewEmbargoesSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        people = permissions.members_to(run, body.validated_data["members"])
        embargoes = actions.embargo_run(run=run, members=people, by=member.user)
        return Response(_embargoes(embargoes, member), status=status.HTTP_201_CREATED)


class EmbargoLiftView(APIView):
    @extend_schema(operation_id="embargoes_lift", request=None, responses=shapes.EmbargoSerializer)
    def post(self, request: Request, embargo_id: int) -> Response:
        """Lift an embargo."""
        embargo, member = permissions.embargo_of(signed_in(request), embargo_id, permissions.RUN)
        actions.lift_embargo(embargo=embargo, by=member.user)
        embargo.refresh_from_db()
        return Response(_embargoes([embargo], member)[0])


def _run(run: Run, member: Member) -> Any:
    return shapes.RunSerializer(run_page(run, member)).data


def _again(run: Run, member: Member) -> Any:
    """Refresh a run after an action, keeping its loaded relations."""
    run.refresh_from_db(fields=["status", "error", "finished_at"])
    return _run(run, member)


def _embargoes(embargoes: Sequence[Embargo], member: Member) -> Any:
    named = may(member, "see names")
    rows = [
        {
            "id": embargo.pk,
            "member": embargo.member_id,
            "pseudonym": embargo.member.pseudonym,
            "role": embargo.member.role,
            "name": embargo.member.user.name if named else "",
            "created_at": embargo.created_at,
            "lifted_at": embargo.lifted_at,
        }
        for embargo in embargoes
    ]
    return shapes.EmbargoSerializer(rows, many=True).data
