"""Simulated annotators, which use the API only."""
