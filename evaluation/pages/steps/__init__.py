"""Ratings on the way of a project."""
