"""The corpus on the way of a project."""
