"""Releases on the way of a project."""
