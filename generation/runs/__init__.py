"""Runs: what they read, in which queue they wait, what a worker keeps loaded, and which of them is at hand."""
