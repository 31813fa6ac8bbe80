"""API of PubMed searches and of access data for PubMed."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation import permissions
from annotation.clusters.serializers import ReviewRefSerializer
from annotation.imports.licences import state_licence
from annotation.imports.serializers import LicenceSerializer
from annotation.models import Search
from annotation.pubmed import actions as pubmed_actions
from annotation.pubmed import client as pubmed_client
from annotation.pubmed import queries as page
from projects.jobs.serializers import JobSerializer
from projects.reports.serializers import ResultTableSerializer

Plain = serializers.Serializer[Any]

ACTIONS = ("go on", "stop")


class NewSearchSerializer(Plain):
    """A query in PubMed's syntax. The records become reviews of the project."""

    query = serializers.CharField(max_length=5_000)
    topic = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    date_from = serializers.DateField(
        required=False, default=None, allow_null=True, help_text="Earliest publication date."
    )
    date_to = serializers.DateField(required=False, default=None, allow_null=True)


class NewStudiesSerializer(Plain):
    """Records that become studies of a review: pasted PubMed ids, the review's references, or both.

    With neither, the studies of the review that were not read yet. Without a review, all studies of the project that
    were not read yet.
    """

    review = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True, help_text="PMID of a review of the project."
    )
    pmids = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200_000,
        help_text="Separated by spaces, commas or line breaks.",
    )
    references = serializers.BooleanField(
        required=False, default=False, help_text="Whether to add all references of the review."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["review"].strip() and (attrs["pmids"].strip() or attrs["references"]):
            raise serializers.ValidationError({"review": "Enter the PMID of the review that includes the studies."})
        return attrs


class UnreadStudiesSerializer(Plain):
    unread = serializers.IntegerField(help_text="Studies of which only the PMID is known.")


class SearchCountsSerializer(Plain):
    """Number of records by outcome."""

    waiting = serializers.IntegerField()
    new = serializers.IntegerField()
    known = serializers.IntegerField(help_text="Records that the project already had.")
    missing = serializers.IntegerField(help_text="PMIDs for which PubMed has no record.")
    unfit = serializers.IntegerField(help_text="Records that could not be imported.")


class UnfitRecordSerializer(Plain):
    pmid = serializers.CharField()
    why = serializers.CharField(help_text="Why the record could not be imported.")


class SearchRowSerializer(Plain):
    """One search: query, author and progress."""

    id = serializers.IntegerField()
    review = ReviewRefSerializer(
        allow_null=True, help_text="Review of the studies. Null for a query and for studies of any review."
    )
    topic = serializers.CharField(allow_blank=True)
    query = serializers.CharField(allow_blank=True)
    date_from = serializers.DateField(allow_null=True)
    date_to = serializers.DateField(allow_null=True)
    translation = serializers.CharField(allow_blank=True, help_text="The query as PubMed understood it.")
    found = serializers.IntegerField(allow_null=True, help_text="Null until PubMed was queried.")
    licence = serializers.CharField(allow_blank=True, help_text="Licence of the records; empty if unknown.")
    redistribution = serializers.CharField(allow_blank=True, help_text="allowed, forbidden, or empty if unknown.")
    state = serializers.ChoiceField(choices=Search.State.choices)
    error = serializers.CharField(allow_blank=True)
    counts = SearchCountsSerializer()
    unfit = UnfitRecordSerializer(many=True, help_text="The first records that could not be imported.")
    job = JobSerializer(allow_null=True, help_text="Null unless the search is in progress.")
    by = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class SearchActSerializer(Plain):
    do = serializers.ChoiceField(choices=ACTIONS)


class PubMedAccessSerializer(Plain):
    """A person's access data for PubMed. The key is never returned."""

    email = serializers.CharField()
    has_key = serializers.BooleanField()


class NewPubMedAccessSerializer(Plain):
    email = serializers.EmailField(max_length=254)
    key = serializers.RegexField(
        r"^[A-Za-z0-9]{0,64}$",
        required=False,
        default=None,
        allow_null=True,
        allow_blank=True,
        help_text="Omit to keep the stored key. Empty: the stored key is deleted.",
    )


_ACTIONS = {"go on": pubmed_actions.resume, "stop": pubmed_actions.stop}


class SearchListView(generics.ListAPIView[Search]):
    queryset = Search.objects.none()
    serializer_class = SearchRowSerializer

    @extend_schema(operation_id="searches_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the PubMed searches, newest first."""
        project = permissions.import_lead(signed_in(request), kwargs["slug"]).project
        searches = self.paginate_queryset(page.searches(project)) or []
        return self.get_paginated_response(SearchRowSerializer(page.rows(searches), many=True).data)

    @extend_schema(operation_id="searches_add", request=NewSearchSerializer, responses={201: SearchRowSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Search PubMed in the background. New records become reviews; known ones are only counted."""
        member = permissions.import_lead(signed_in(request), kwargs["slug"])
        serializer = NewSearchSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return _created(pubmed_actions.start_search(project=member.project, by=member, **serializer.validated_data))


class StudySearchView(APIView):
    @extend_schema(operation_id="searches_studies", responses=UnreadStudiesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the number of studies of which only the PMID is known."""
        member = permissions.import_lead(signed_in(request), slug)
        unread = pubmed_actions.unread_studies(member.project).count()
        return Response(UnreadStudiesSerializer({"unread": unread}).data)

    @extend_schema(
        operation_id="searches_add_studies", request=NewStudiesSerializer, responses={201: SearchRowSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Fetch records from PubMed as studies of a review, or the records of studies that have none yet."""
        member = permissions.import_lead(signed_in(request), slug)
        serializer = NewStudiesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        if not fields["review"]:
            return _created(pubmed_actions.start_reading_studies(project=member.project, by=member))
        review = permissions.review_by_pmid(member, fields["review"])
        return _created(
            pubmed_actions.start_study_search(
                review=review, text=fields["pmids"], references=fields["references"], by=member
            )
        )


class SearchTableView(APIView):
    @extend_schema(operation_id="searches_table", responses=ResultTableSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the retrieved and included reviews by topic."""
        member = permissions.import_lead(signed_in(request), slug)
        return Response(ResultTableSerializer(page.topics(member)).data)


class SearchView(APIView):
    @extend_schema(operation_id="searches_get", responses=SearchRowSerializer)
    def get(self, request: Request, search_id: int) -> Response:
        """Return one search with its progress."""
        search, _ = permissions.search_of(signed_in(request), search_id)
        return Response(SearchRowSerializer(page.row(search)).data)

    @extend_schema(operation_id="searches_act", request=SearchActSerializer, responses=SearchRowSerializer)
    def post(self, request: Request, search_id: int) -> Response:
        """Stop a search, or resume one that ended early."""
        search, member = permissions.search_of(signed_in(request), search_id)
        serializer = SearchActSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        changed = _ACTIONS[serializer.validated_data["do"]](search=search, by=member)
        return Response(SearchRowSerializer(page.row(changed)).data)

    @extend_schema(operation_id="searches_licence", request=LicenceSerializer, responses=SearchRowSerializer)
    def patch(self, request: Request, search_id: int) -> Response:
        """State the licence of the records of a search."""
        user = signed_in(request)
        search, _ = permissions.search_of(user, search_id)
        body = LicenceSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        state_licence(search, body.stated(), by=user)
        return Response(SearchRowSerializer(page.row(search)).data)


class PubMedAccessView(APIView):
    @extend_schema(operation_id="pubmed_access_get", responses=PubMedAccessSerializer)
    def get(self, request: Request) -> Response:
        """Return your e-mail address for PubMed, and whether an API key is stored."""
        return _access_response(request)

    @extend_schema(
        operation_id="pubmed_access_set", request=NewPubMedAccessSerializer, responses=PubMedAccessSerializer
    )
    def put(self, request: Request) -> Response:
        """Store your e-mail address and API key for PubMed. The key is never returned."""
        serializer = NewPubMedAccessSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        pubmed_client.store_access(signed_in(request), **serializer.validated_data)
        return _access_response(request)


def _access_response(request: Request) -> Response:
    access = pubmed_client.access_of(signed_in(request))
    return Response(PubMedAccessSerializer({"email": access.email, "has_key": bool(access.key)}).data)


def _created(search: Search) -> Response:
    return Response(SearchRowSerializer(page.row(search)).data, status=status.HTTP_201_CREATED)
