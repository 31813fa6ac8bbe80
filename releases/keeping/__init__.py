"""Releases that an installation keeps: verified against all that knows of them, and served."""
