"""The ways to make summaries, one module each, listed by name."""

from .chat import ChatBackend
from .extractive import ExtractiveBackend
from .imported import ImportedBackend
from .multi_encode import MultiEncodeBackend
from .openai import OpenAIBackend
from .protocol import Backend
from .seq2seq import Seq2SeqBackend

_EVERY: tuple[Backend, ...] = (
    ExtractiveBackend(), Seq2SeqBackend(), MultiEncodeBackend(), ChatBackend(), OpenAIBackend(), ImportedBackend(),
)  # fmt: skip
_BACKENDS = {backend.key: backend for backend in _EVERY}


def get(key: str) -> Backend:
    """A backend by its key; KeyError where there is none."""
    return _BACKENDS[key]


def every() -> tuple[Backend, ...]:
    return tuple(_BACKENDS.values())
