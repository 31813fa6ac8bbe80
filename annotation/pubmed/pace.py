"""One pace for all workers of an installation: each takes a turn from a row of the data base before it asks."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from projects.background import batches

from ..models import PubMedTurn

#: What NCBI allows is 3 requests a second without a key and 10 with one. A little less: clocks are not one.
WITHOUT_KEY, WITH_KEY = timedelta(seconds=0.36), timedelta(seconds=0.11)
#: No turn is further away: a clock that was wrong once would keep everybody waiting.
FURTHEST = timedelta(minutes=5)


def lane_of(key: str) -> str:
    """Who shares a turn: everybody without a key, and whoever has the same one. It does not tell the key."""
    return salted_hmac("annotation.pubmed.pace", key, algorithm="sha256").hexdigest() if key else "without a key"


def take(lane: str, between: timedelta) -> datetime:
    """The moment at which the caller may send one request. By compare-and-set: no two callers get the same, on either
    data base."""
    while True:
        now = timezone.now()
        # Whoever writes it, it comes to the same for a job: a turn is taken, and perhaps not used.
        with batches.harmless():
            row = PubMedTurn.objects.filter(pk=lane).first()
            if row is None:
                _first(lane, now)
                continue
            turn = max(now, row.next_at) if row.next_at <= now + FURTHEST else now
            if PubMedTurn.objects.filter(pk=lane, next_at=row.next_at).update(next_at=turn + between):
                return turn


def put_off(lane: str, seconds: float) -> None:
    """Nobody asks before so many seconds are over: NCBI said that it is too much."""
    later = timezone.now() + min(timedelta(seconds=seconds), FURTHEST)
    with batches.harmless():
        PubMedTurn.objects.filter(pk=lane, next_at__lt=later).update(next_at=later)


def _first(lane: str, now: datetime) -> None:
    try:
        with transaction.atomic():
            PubMedTurn.objects.create(pk=lane, next_at=now)
    except IntegrityError:
        pass  # another worker was faster
