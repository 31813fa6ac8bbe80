"""Views of the reference app. Storing an annotation claims and returns the next text."""

import json
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import ensure_csrf_cookie

from .models import Annotation

CLAIM = """
    UPDATE reference_task SET claimed_by_id = %s WHERE id = (
        SELECT id FROM reference_task WHERE round = %s AND claimed_by_id IS NULL ORDER BY id LIMIT 1 {lock}
    ) RETURNING id, text
"""


def claim(user: int, round: int) -> dict[str, Any] | None:
    """Claim the next free text for this person."""
    lock = "FOR UPDATE SKIP LOCKED" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM.format(lock=lock), [user, round])
        row = cursor.fetchone()
    return {"id": row[0], "text": row[1]} if row else None


def ready(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ready\n")


@ensure_csrf_cookie
def following(request: HttpRequest, round: int) -> JsonResponse:
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    return JsonResponse({"next": claim(request.user.pk, round)})


def submit(request: HttpRequest, uuid: UUID) -> JsonResponse:
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    body = json.loads(request.body)
    with transaction.atomic():
        Annotation(
            uuid=uuid,
            task_id=body["task"],
            user_id=request.user.pk,
            polarity=body["polarity"],
            modality=body["modality"],
            cues=body["cues"],
        ).save(force_insert=True)
        found = claim(request.user.pk, body["round"])
    return JsonResponse({"uuid": str(uuid), "next": found}, status=201)
