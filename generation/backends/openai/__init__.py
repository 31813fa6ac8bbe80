"""Backend for models behind an OpenAI-compatible endpoint (vLLM, Ollama) that the administrator configured."""

from .backend import OpenAIBackend

__all__ = ["OpenAIBackend"]
