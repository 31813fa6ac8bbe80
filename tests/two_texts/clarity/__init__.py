"""A table that only the tests know."""
