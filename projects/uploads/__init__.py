"""Files that people send: kept, checked, shown with what is wrong, confirmed, written, and removed."""

# The flow knows an upload by its base class only. A new one is one module in an app's `actions/uploads/`.

from .registry import discover, every, get
from .upload import Brought, Found, Json, Upload

__all__ = ["Brought", "Found", "Json", "Upload", "discover", "every", "get"]
