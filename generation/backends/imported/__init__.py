"""Summaries imported from a file of keys and texts."""

from .backend import ImportedBackend

__all__ = ["ImportedBackend"]
