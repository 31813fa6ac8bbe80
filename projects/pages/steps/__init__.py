"""The way of a project from its corpus to a release: how far each step is, and what comes next."""

from .agreement import measured
from .people import askable
from .registry import discover, of
from .step import Begun, Next, Step, Stretch

__all__ = ["Begun", "Next", "Step", "Stretch", "askable", "discover", "measured", "of"]
