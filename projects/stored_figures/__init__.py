"""Figures computed from all rows of a project: a job computes them after changes, and pages read one row."""
