"""The way of a project from its corpus to a release: how far each step is, and what comes next."""

from .registry import discover, of
from .step import Begun, Next, Step, Stretch

__all__ = ["Begun", "Next", "Step", "Stretch", "discover", "of"]
