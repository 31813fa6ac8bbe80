"""Protocols of human evaluation: content, validation, storage, and shipped templates."""
