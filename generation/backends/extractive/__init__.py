"""Extractive summaries: sentences copied from the inputs."""

from .backend import ExtractiveBackend

__all__ = ["ExtractiveBackend"]
