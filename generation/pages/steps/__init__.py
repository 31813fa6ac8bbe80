"""Summaries on the way of a project."""
