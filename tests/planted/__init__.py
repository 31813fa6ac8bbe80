"""Faults that are planted on purpose, to see that the checks find them: `python -m tests.planted [NAME...]`."""
