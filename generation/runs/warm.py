"""The one summariser that a worker keeps loaded. In worker processes only: the web process loads none."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from projects.background import waiting

from ..backends.protocol import Summariser
from ..models import Version
from ..systems.identity import backend_of
from .queues import DEFAULT, queue_of

logger = logging.getLogger(__name__)
_loaded: tuple[str, Summariser] | None = None


@contextmanager
def summariser_of(version: Version) -> Iterator[Summariser]:
    """The version, loaded; the one before is let go of first, for there may be room for one only.

    What holds no weights is not kept: it is quick to load, and must not push out what is not. Raises `BackendError`
    where it cannot be loaded as the version says.
    """
    backend = backend_of(version.config)
    if backend.weights(version.config):
        yield _kept(version)
        return
    summariser = backend.load(version.config, version.facts)
    try:
        yield summariser
    finally:
        summariser.close()


def _kept(version: Version) -> Summariser:
    global _loaded
    if _loaded and _loaded[0] == version.hash:
        return _loaded[1]
    let_go()
    _loaded = version.hash, backend_of(version.config).load(version.config, version.facts)
    queue = queue_of(version.config)
    waiting.hold("" if queue == DEFAULT else queue)
    return _loaded[1]


def let_go() -> None:
    """Free what is loaded."""
    global _loaded
    held, _loaded = _loaded, None
    waiting.hold("")
    if held:
        try:
            held[1].close()
        except Exception:
            logger.warning("A summariser could not be closed.", exc_info=True)
