"""A format that only the tests know."""
