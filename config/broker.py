"""Celery transport for Redis that drops malformed messages."""

import logging
from queue import Empty
from typing import Any

from kombu.transport import redis

logger = logging.getLogger(__name__)


class Channel(redis.Channel):
    """Kombu's channel, in which a malformed message does not stop the worker."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            # The message has left the queue. Jobs are rows, so the wake-up is sent again.
            logger.warning("Dropped a malformed message from Redis.", exc_info=True)
            raise Empty from None


class Transport(redis.Transport):
    Channel = Channel
