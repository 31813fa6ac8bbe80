"""The loaded versions of each backend that has weights."""
