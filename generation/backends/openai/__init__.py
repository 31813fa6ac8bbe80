"""Models behind an OpenAI-compatible endpoint (vLLM, Ollama, ...) that the administrator named."""

from .backend import OpenAIBackend

__all__ = ["OpenAIBackend"]
