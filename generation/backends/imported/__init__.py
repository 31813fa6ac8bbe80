"""Summaries that were made elsewhere: a file of keys and texts."""

from .backend import ImportedBackend

__all__ = ["ImportedBackend"]
