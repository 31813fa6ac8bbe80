from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import Conflict

from .. import kinds
from ..jobs.serializers import JobSerializer
from ..jobs.views import accepted
from ..models import Member, Round
from ..permissions import SUMMARY_TEXTS, hidden_from, may, permit, round_of
from . import actions as agreement_actions
from . import queries as agreement_page
from . import serializers as report_shapes
from .writing import with_texts


class RoundAgreementView(APIView):
    @extend_schema(
        operation_id="rounds_agreement",
        responses={200: report_shapes.AgreementSerializer, 202: report_shapes.AgreementPendingSerializer},
    )
    def get(self, request: Request, round_id: int) -> Response:
        """Return the agreement report of a round.

        For a large round, return the stored report, or 202 if no job has computed one yet.
        """
        round, member = self._round(request, round_id)
        available = agreement_actions.available_report(round)
        job = available.job.pk if available.job else None
        if available.report is None:
            return Response({"answers": available.answers, "job": job}, status=status.HTTP_202_ACCEPTED)
        now = {"as_of": available.as_of, "current": available.current, "answers_now": available.answers, "job": job}
        purpose = {"purpose": round.get_purpose_display()}  # the report contains the stored value, not its label
        report = agreement_page.page(round, available.report, curates=may(member, "curate"))
        if "writing" in report:
            reads_texts = may(member, "read texts of other writers") and not hidden_from(member).get(SUMMARY_TEXTS)
            report["writing"] = with_texts(round, report["writing"], reads_texts=reads_texts)
        return Response(report | now | purpose)

    @extend_schema(operation_id="rounds_measure_agreement", request=None, responses={202: JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Start a job that computes and stores the agreement report. Only large rounds use the stored report."""
        round, _ = self._round(request, round_id)
        return accepted(agreement_actions.request_report(round=round, by=signed_in(request)))

    @staticmethod
    def _round(request: Request, round_id: int) -> tuple[Round, Member]:
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        if round.is_open and kinds.get(round.kind).blind:
            raise Conflict("Raters of this round judge blindly. Agreement is shown after the round is closed.")
        return round, member
