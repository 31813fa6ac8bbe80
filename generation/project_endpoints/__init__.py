"""Endpoints that the leads of a project add, beside those of the administrator."""
