"""Uploaded files: storage, check, confirmation, import and removal."""

# A new type of upload is a class in a module `uploads.py` of a feature package. `Upload` is its only interface.

from .actions import discover, every, get
from .upload import Brought, Found, Json, Upload

__all__ = ["Brought", "Found", "Json", "Upload", "discover", "every", "get"]
