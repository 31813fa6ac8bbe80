"""Protocols of human evaluation, and what was rated by them."""

from .protocols import Protocol, ProtocolVersion

__all__ = ["Protocol", "ProtocolVersion"]
