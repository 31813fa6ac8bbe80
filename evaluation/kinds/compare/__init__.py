"""Comparing two summaries, side by side."""
