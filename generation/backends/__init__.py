"""The backends that generate summaries, registered by key."""

from generation.backends.seq2seq import MultiEncodeBackend

from .chat import ChatBackend
from .extractive import ExtractiveBackend
from .imported import ImportedBackend
from .openai import OpenAIBackend
from .protocol import Backend
from .seq2seq import Seq2SeqBackend

_EVERY: tuple[Backend, ...] = (
    ExtractiveBackend(),
    Seq2SeqBackend(),
    MultiEncodeBackend(),
    ChatBackend(),
    OpenAIBackend(),
    ImportedBackend(),
)
_BACKENDS = {backend.key: backend for backend in _EVERY}


def get(key: str) -> Backend:
    """Return the backend with this key. Raise KeyError if there is none."""
    return _BACKENDS[key]


def every() -> tuple[Backend, ...]:
    return tuple(_BACKENDS.values())
