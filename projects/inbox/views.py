"""API views of the inbox: answers that are flagged, commented or skipped, remarks, and replies."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import answers_since, signed_in
from api.fields import LARGEST, Strict, UnitNameField
from projects.gold.serializers import FieldValueSerializer
from projects.inbox import queries as inbox_queries
from projects.inbox.actions import remark
from projects.inbox.queries import WHAT
from projects.models import Answer, Outcome, Remark
from projects.permissions import answer_of, member_of, permit, round_of

Plain = serializers.Serializer[Any]


class InboxFiltersSerializer(Plain):
    what = serializers.ChoiceField(choices=list(WHAT), required=False)
    state = serializers.ChoiceField(choices=["open", "settled"], required=False)
    round = serializers.IntegerField(required=False, max_value=LARGEST)
    search = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="Words of the comment, the key of the unit, or the name of the round or person.",
    )


class NewRemarkSerializer(Strict):
    act = serializers.ChoiceField(choices=Remark.Act.choices)
    text = serializers.CharField(max_length=5000, allow_blank=True, default="")


class RemarkSerializer(Plain):
    act = serializers.ChoiceField(choices=Remark.Act.choices)
    author = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class InboxItemSerializer(Plain):
    """An answer that is flagged, commented or skipped, with its remarks."""

    answer = serializers.UUIDField()
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    kind = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    round = serializers.IntegerField()
    round_name = serializers.CharField()
    pseudonym = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    reason = serializers.CharField(allow_blank=True)
    comment = serializers.CharField(allow_blank=True)
    flag = serializers.BooleanField()
    said = FieldValueSerializer(many=True)
    at = serializers.DateTimeField()
    settled = serializers.BooleanField()
    remarks = RemarkSerializer(many=True)


class InboxTotalsSerializer(Plain):
    """Number of unsettled answers by type, of all unsettled and of all settled ones.

    An answer can have several types.
    """

    flagged = serializers.IntegerField()
    commented = serializers.IntegerField()
    skipped = serializers.IntegerField()
    open = serializers.IntegerField()
    settled = serializers.IntegerField()


class ReplySerializer(Plain):
    """One of the user's own answers that has a reply."""

    answer = serializers.UUIDField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    text = serializers.CharField(allow_blank=True)
    comment = serializers.CharField(allow_blank=True)
    remarks = RemarkSerializer(many=True)


class InboxView(generics.ListAPIView[Answer]):
    queryset = Answer.objects.none()
    serializer_class = InboxItemSerializer

    @extend_schema(operation_id="inbox_list", parameters=[InboxFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List answers that are flagged, commented or skipped, newest first, with their remarks."""
        member = member_of(signed_in(request), kwargs["slug"])
        permit(member, "curate")
        filters = InboxFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        answer_ids = inbox_queries.filtered(member.project, **filters.validated_data).values_list("pk", flat=True)
        page = inbox_queries.read(member.project, self.paginate_queryset(answer_ids) or [])
        return self.get_paginated_response(InboxItemSerializer(inbox_queries.rows(page), many=True).data)


class InboxTotalsView(APIView):
    @extend_schema(operation_id="inbox_totals", responses=InboxTotalsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Count the unsettled answers by type, and the settled ones."""
        member = member_of(signed_in(request), slug)
        permit(member, "curate")
        return Response(inbox_queries.totals(member.project))


class RemarksView(APIView):
    @extend_schema(operation_id="answers_remark", request=NewRemarkSerializer, responses={201: RemarkSerializer})
    def post(self, request: Request, answer_uuid: UUID) -> Response:
        """Reply to an answer, settle it, or reopen it. The author of the answer can read the text."""
        answer, member = answer_of(signed_in(request), answer_uuid)
        permit(member, "curate")
        body = NewRemarkSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        created = remark(answer=answer, by=member, **body.validated_data)
        data = {"act": created.act, "author": member.user.name, "text": created.text, "at": created.at}
        return Response(RemarkSerializer(data).data, status=status.HTTP_201_CREATED)


class RepliesView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="rounds_replies", responses=ReplySerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """List the user's own answers in the round that have replies."""
        round, member = round_of(signed_in(request), round_id)
        rows = inbox_queries.replies_in(round, member, since=answers_since(request))
        return Response(ReplySerializer(rows, many=True).data)
