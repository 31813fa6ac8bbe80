"""Scores of summaries and probes: metric inputs, means, and comparisons of systems."""
