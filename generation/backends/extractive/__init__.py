"""Summaries that are sentences of the inputs, copied."""

from .backend import ExtractiveBackend

__all__ = ["ExtractiveBackend"]
