"""Searching PubMed over HTTP, and by whose address and key it is asked."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.pages.plans import fresh_job
from projects.serializers.plots import LookQuerySerializer
from projects.serializers.rounds import JobSerializer
from projects.serializers.tables import ResultTableSerializer

from .. import permissions, plots
from ..actions import full_texts, searching
from ..models import Search
from ..pages import full_texts as full_texts_page
from ..pages import searches as page
from ..pubmed import access
from ..serializers import searches as shapes

_DO = {"go on": searching.go_on, "stop": searching.stop}


class SearchListView(generics.ListAPIView[Search]):
    queryset = Search.objects.none()
    serializer_class = shapes.SearchRowSerializer

    @extend_schema(operation_id="searches_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Searches of PubMed, newest first."""
        project = permissions.import_lead(signed_in(request), kwargs["slug"]).project
        found = self.paginate_queryset(page.searches(project)) or []
        return self.get_paginated_response(shapes.SearchRowSerializer(page.rows(found), many=True).data)

    @extend_schema(
        operation_id="searches_add", request=shapes.NewSearchSerializer, responses={201: shapes.SearchRowSerializer}
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Search PubMed in the background. What it finds become reviews; those that are known are counted."""
        member = permissions.import_lead(signed_in(request), kwargs["slug"])
        asked = shapes.NewSearchSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return _made(searching.search(project=member.project, by=member, **asked.validated_data))


class StudySearchView(APIView):
    @extend_schema(operation_id="searches_studies", responses=shapes.UnreadStudiesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How many studies the project has by their PubMed ids alone."""
        member = permissions.import_lead(signed_in(request), slug)
        unread = searching.unread_studies(member.project).count()
        return Response(shapes.UnreadStudiesSerializer({"unread": unread}).data)

    @extend_schema(
        operation_id="searches_add_studies", request=shapes.NewStudiesSerializer,
        responses={201: shapes.SearchRowSerializer},
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Read records from PubMed that become studies of a review, or those of studies that have none yet."""
        member = permissions.import_lead(signed_in(request), slug)
        asked = shapes.NewStudiesSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        if not said["review"]:
            return _made(searching.read_studies(project=member.project, by=member))
        review = permissions.review_named(member, said["review"])
        return _made(
            searching.find_studies(review=review, text=said["pmids"], references=said["references"], by=member)
        )


class FullTextsView(APIView):
    @extend_schema(operation_id="full_texts_get", responses=shapes.FullTextsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How many reviews of the data set have their full text."""
        project = permissions.import_lead(signed_in(request), slug).project
        return Response(shapes.FullTextsSerializer(full_texts_page.overview(project)).data)

    @extend_schema(operation_id="full_texts_ask", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Have PubMed Central asked for those that are lacking. While that is under way it is that job."""
        member = permissions.import_lead(signed_in(request), slug)
        job = full_texts.ask(project=member.project, by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class SearchTableView(APIView):
    @extend_schema(operation_id="searches_table", responses=ResultTableSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Reviews retrieved and included, by topic."""
        member = permissions.import_lead(signed_in(request), slug)
        return Response(ResultTableSerializer(page.topics(member)).data)


class FlowView(APIView):
    @extend_schema(
        operation_id="searches_flow", parameters=[LookQuerySerializer],
        responses={(200, "image/svg+xml"): OpenApiResponse(OpenApiTypes.BINARY, description="SVG.")},
    )  # fmt: skip
    def get(self, request: Request, slug: str) -> HttpResponse:
        """The flow figure: what was found, what left at each step and why, and what came of the rest."""
        member = permissions.import_lead(signed_in(request), slug)
        asked = LookQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        drawn = plots.flow(member.project, asked.validated_data["look"])
        # As an attachment: opened by itself it would be a page of this address.
        headers = {"Content-Disposition": f'attachment; filename="{slug}-flow.svg"'}
        return HttpResponse(drawn, content_type="image/svg+xml; charset=utf-8", headers=headers)


class SearchView(APIView):
    @extend_schema(operation_id="searches_get", responses=shapes.SearchRowSerializer)
    def get(self, request: Request, search_id: int) -> Response:
        """One search, and how far it is."""
        search, _ = permissions.search_of(signed_in(request), search_id)
        return Response(shapes.SearchRowSerializer(page.row(search)).data)

    @extend_schema(
        operation_id="searches_act", request=shapes.SearchActSerializer, responses=shapes.SearchRowSerializer
    )
    def post(self, request: Request, search_id: int) -> Response:
        """Stop a search, or go on with one that ended early."""
        search, member = permissions.search_of(signed_in(request), search_id)
        asked = shapes.SearchActSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        done = _DO[asked.validated_data["do"]](search=search, by=member)
        return Response(shapes.SearchRowSerializer(page.row(done)).data)


class PubMedAccessView(APIView):
    @extend_schema(operation_id="pubmed_access_get", responses=shapes.PubMedAccessSerializer)
    def get(self, request: Request) -> Response:
        """By what address you ask PubMed, and whether you have given a key."""
        return _access(request)

    @extend_schema(
        operation_id="pubmed_access_set", request=shapes.NewPubMedAccessSerializer,
        responses=shapes.PubMedAccessSerializer,
    )  # fmt: skip
    def put(self, request: Request) -> Response:
        """Keep the address and the key by which you ask PubMed. The key is never told again."""
        asked = shapes.NewPubMedAccessSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        access.keep(signed_in(request), **asked.validated_data)
        return _access(request)


def _access(request: Request) -> Response:
    found = access.of(signed_in(request))
    return Response(shapes.PubMedAccessSerializer({"email": found.email, "has_key": bool(found.key)}).data)


def _made(search: Search) -> Response:
    return Response(shapes.SearchRowSerializer(page.row(search)).data, status=status.HTTP_201_CREATED)
